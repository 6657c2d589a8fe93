import { Type } from 'typebox';
import { listOf, page, route, strict, text } from '../route.js';
import { EventData, EventRecord, Severity } from '../records/event.js';

const filters = {
  run_id: Type.Optional(Type.String()),
  job_id: Type.Optional(Type.String()),
  node_id: Type.Optional(Type.String()),
  type: Type.Optional(text(100, 1)),
  severity: Type.Optional(Severity),
};

export const createEvent = route({
  id: 'events.create',
  method: 'POST',
  path: '/runs/{run_id}/events',
  scope: 'ingest',
  summary:
    'Report a CUSTOM event of the run. An Idempotency-Key sent again answers 200 with the event made first.',
  body: strict({
    title: text(500, 1),
    message: Type.Optional(text(20_000)),
    severity: Type.Optional(Severity),
    data: Type.Optional(EventData),
  }),
  answers: { 200: EventRecord, 201: EventRecord },
});

const EventList = Type.Object(
  {
    ...listOf(EventRecord).properties,
    names: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'With names=true: the names of the runs, jobs and nodes that exist, by their ids.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const listEvents = route({
  id: 'events.list',
  method: 'GET',
  path: '/events',
  scope: 'read',
  summary: 'Events, newest first.',
  query: strict({
    ...filters,
    names: Type.Optional(
      Type.Boolean({
        description: 'Whether the answer has the names of the runs, jobs and nodes of its events.',
      }),
    ),
    ...page(200),
  }),
  answers: { 200: EventList },
});

export const streamEvents = route({
  id: 'events.stream',
  method: 'GET',
  path: '/events/stream',
  scope: 'read',
  summary:
    'Live events; Last-Event-ID replays what was missed. The header Last-Event-ID of the answer names the event that the stream begins behind.',
  query: strict(filters),
  stream: 'sse',
  event: EventRecord,
});
