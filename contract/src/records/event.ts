import { Type, type Static } from 'typebox';
import { SEVERITIES, type EVENT_TYPES } from '../protocol/enums.js';
import { Timestamp, nullable, strict } from '../route.js';
import { JsonObject } from './run.js';

export const Severity = Type.Enum([...SEVERITIES]);
export type Severity = Static<typeof Severity>;

export type EventType = (typeof EVENT_TYPES)[number];

export const EVENT_DATA_BYTES = 64 * 1024;
export const EventData = Type.Object(
  {},
  { additionalProperties: true, description: `At most ${EVENT_DATA_BYTES} bytes of JSON.` },
);

/** `type` is one of EVENT_TYPES or the type of a third party's detector. */
export const EventRecord = strict(
  {
    id: Type.String(),
    type: Type.String(),
    severity: Severity,
    title: Type.String(),
    message: Type.String(),
    run_id: nullable(Type.String()),
    job_id: nullable(Type.String()),
    node_id: nullable(Type.String()),
    data: JsonObject,
    created_at: Timestamp,
  },
  { $id: 'Event' },
);
export type EventRecord = Static<typeof EventRecord>;

/** An event about to be stored; what is left out is empty or null. */
export interface EventDraft {
  type: EventType | (string & {});
  severity?: Severity;
  title: string;
  message?: string;
  run_id?: string | null;
  job_id?: string | null;
  node_id?: string | null;
  data?: Record<string, unknown>;
}
