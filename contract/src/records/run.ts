import { Type, type Static } from 'typebox';
import { RUN_STATUSES } from '../protocol/enums.js';
import { MAX_TAGS } from '../protocol/limits.js';
import { Timestamp, nullable, strict, text } from '../route.js';
import { Placement } from './project.js';

export const RunStatusName = Type.Enum([...RUN_STATUSES]);
export type RunStatus = Static<typeof RunStatusName>;

export const RunSource = Type.Enum(['sdk', 'job', 'import']);
export const Tags = Type.Array(text(100, 1), {
  maxItems: MAX_TAGS,
  uniqueItems: true,
});
/** Any JSON object, stored as it is, NUL and halves of surrogate pairs in it too. */
export const JsonObject = Type.Object({}, { additionalProperties: true });

export const Run = strict(
  {
    id: Type.String(),
    name: Type.String(),
    ...Placement,
    job_id: nullable(Type.String()),
    attempt: nullable(Type.Integer()),
    source: RunSource,
    status: RunStatusName,
    step: nullable(Type.Integer()),
    epoch: nullable(Type.Number()),
    max_steps: nullable(Type.Integer()),
    config: JsonObject,
    environment: JsonObject,
    tags: Type.Array(Type.String()),
    notes: Type.String(),
    created_at: Timestamp,
    started_at: Timestamp,
    finished_at: nullable(Timestamp),
    stale_since: nullable(
      Type.Integer({
        description:
          'When a RUNNING run without a job gave its last sign of life (ms), if it has given none for too long. Otherwise null.',
      }),
    ),
  },
  { $id: 'Run' },
);
export type Run = Static<typeof Run>;
