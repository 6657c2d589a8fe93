import { Type, type Static } from 'typebox';
import { VALUE_SOURCES } from '../protocol/enums.js';
import { nullable, strict } from '../route.js';
import { Checkpoint } from './checkpoint.js';
import { Protocol } from './evaluation.js';
import { Direction, MetricName, MetricValue } from './metric.js';
import { NextActionRecord } from './semantic.js';

/** Runs or checkpoints in one comparison. */
export const MAX_COMPARED = 50;

export const ValueSource = Type.Enum([...VALUE_SOURCES], {
  description: 'An evaluation, or the training where no evaluation has the metric.',
});
export type ValueSource = Static<typeof ValueSource>;

const Ids = Type.Array(Type.String());
const Step = nullable(Type.Integer());

export const BestCheckpoint = strict(
  {
    checkpoint_id: Type.String(),
    checkpoint: Checkpoint,
    run_id: Type.String(),
    metric: MetricName,
    direction: Direction,
    value: Type.Number(),
    step: Step,
    value_step: nullable(
      Type.Integer({
        description:
          'Of a value that the training logged: its own step, which may be before that of the checkpoint.',
      }),
    ),
    source: ValueSource,
    evaluation_id: nullable(Type.String()),
    tied_checkpoint_ids: Type.Array(Type.String(), {
      description: 'Every checkpoint of that value, when several have it.',
    }),
    next_actions: Type.Array(NextActionRecord),
  },
  { $id: 'BestCheckpoint' },
);
export type BestCheckpoint = Static<typeof BestCheckpoint>;

const Entry = {
  best: nullable(MetricValue),
  best_source: nullable(ValueSource),
  step: Step,
  evaluation_id: nullable(Type.String()),
  rank: nullable(
    Type.Integer({ minimum: 1, description: 'Equal values share one; null without a finite value.' }),
  ),
  is_best: Type.Boolean(),
};

/** What the values of a comparison are of. `protocol`: that of its evaluations; null when none counts. */
const Compared = {
  metric: MetricName,
  direction: Direction,
  protocol: nullable(Protocol),
  tied_ids: Ids,
  next_actions: Type.Array(NextActionRecord),
};

export const RunEntry = strict(
  { run_id: Type.String(), name: Type.String(), ...Entry, latest: nullable(MetricValue) },
  { $id: 'RunEntry' },
);
export type RunEntry = Static<typeof RunEntry>;

export const RunComparison = strict(
  { ...Compared, entries: Type.Array(RunEntry), best_run_id: nullable(Type.String()) },
  { $id: 'RunComparison' },
);
export type RunComparison = Static<typeof RunComparison>;

export const CheckpointEntry = strict(
  {
    checkpoint_id: Type.String(),
    run_id: Type.String(),
    name: Type.String({ description: 'The last part of its path.' }),
    ...Entry,
    latest: nullable(MetricValue),
  },
  { $id: 'CheckpointEntry' },
);
export type CheckpointEntry = Static<typeof CheckpointEntry>;

export const CheckpointComparison = strict(
  { ...Compared, entries: Type.Array(CheckpointEntry), best_checkpoint_id: nullable(Type.String()) },
  { $id: 'CheckpointComparison' },
);
export type CheckpointComparison = Static<typeof CheckpointComparison>;
