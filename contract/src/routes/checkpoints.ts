import { Type } from 'typebox';
import { listOf, page, PLAIN, route, strict } from '../route.js';
import { Checkpoint, CHECKPOINT_METADATA_BYTES, ListedCheckpoint } from '../records/checkpoint.js';
import { MetricPoint } from '../records/metric.js';

/** Refused rather than stored as something else: what no database can hold, and half a surrogate pair. */
export const AbsolutePath = Type.String({
  minLength: 1,
  maxLength: 4096,
  pattern: '^/[^\\u0000\\ud800-\\udfff]*$',
  description: 'An absolute path on the agent host, of Unicode characters without NUL.',
});

export const createCheckpoint = route({
  id: 'checkpoints.create',
  method: 'POST',
  path: '/runs/{run_id}/checkpoints',
  scope: 'ingest',
  summary: 'Register a checkpoint; the same path and step again answers 200 with the record that stands.',
  body: strict({
    path: AbsolutePath,
    step: Type.Optional(MetricPoint.properties.step),
    epoch: Type.Optional(Type.Number()),
    size: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'In bytes.' }),
    ),
    metadata: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: `At most ${CHECKPOINT_METADATA_BYTES} bytes of JSON, \`evaluations\` not among its names.`,
        },
      ),
    ),
  }),
  answers: { 200: Checkpoint, 201: Checkpoint },
});

export const listRunCheckpoints = route({
  id: 'runs.checkpoints',
  method: 'GET',
  path: '/runs/{run_id}/checkpoints',
  scope: 'read',
  summary: 'Checkpoints of the run, newest first, the best of them marked.',
  query: strict(page()),
  answers: { 200: listOf(ListedCheckpoint) },
});

export const listCheckpoints = route({
  id: 'checkpoints.list',
  method: 'GET',
  path: '/checkpoints',
  scope: 'read',
  summary: 'Checkpoints of all runs, newest first; every filter given is applied.',
  query: strict({
    run_id: Type.Optional(Type.String()),
    experiment_id: Type.Optional(Type.String()),
    project_id: Type.Optional(Type.String()),
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: PLAIN,
        description:
          'Words that each occur in the path or in the name of the run, whatever their case; of a path, that of the letters A to Z.',
      }),
    ),
    ...page(),
  }),
  answers: { 200: listOf(Checkpoint) },
});

export const getCheckpoint = route({
  id: 'checkpoints.get',
  method: 'GET',
  path: '/checkpoints/{ckpt_id}',
  scope: 'read',
  summary: 'One checkpoint.',
  answers: { 200: Checkpoint },
});
