import { Type, type Static } from 'typebox';
import { HEALTH_STATUSES } from '../protocol/enums.js';
import { Timestamp, nullable, strict } from '../route.js';
import { Protocol } from './evaluation.js';
import { Severity } from './event.js';
import { LogLine } from './log.js';
import { Direction, MetricValue, RunHealth, Trend } from './metric.js';
import { RunStatusName } from './run.js';
import { CitationRecord, NextActionRecord } from './semantic.js';

const Seconds = Type.Number({ minimum: 0, description: 'In seconds.' });
const Pace = Type.Number({ description: 'Steps per second.' });
const Evidence = Type.Array(CitationRecord);

/** What a person would act on. */
export const Anomaly = strict(
  {
    kind: Type.String({
      description:
        'nan, infinity, spike, silence or slow; else the type of an event, or the name of a rule about runs.',
    }),
    severity: Severity,
    message: Type.String(),
    evidence: Evidence,
    fixes: Type.Array(Type.String()),
  },
  { $id: 'Anomaly' },
);
export type Anomaly = Static<typeof Anomaly>;

/** Of the primary metric; where none is set, or the run has no value of it, of a loss or of another metric whose direction is known. */
export const Convergence = strict(
  {
    metric: nullable(Type.String({ description: 'null: the run has no such metric yet.' })),
    is_primary: Type.Boolean(),
    direction: nullable(Direction),
    best: nullable(Type.Number({ description: 'The best value that the training logged.' })),
    best_step: nullable(Type.Integer()),
    latest: nullable(MetricValue),
    latest_step: nullable(Type.Integer()),
    trend: Trend,
    is_improving: nullable(
      Type.Boolean({
        description:
          'null while the trend is unknown; false while the latest value is not finite, or the last values are clearly worse than the best one, whatever the trend is.',
      }),
    ),
    is_stalled: Type.Boolean({
      description:
        'true only while the trend is stable, and the last values are not clearly worse than the best one.',
    }),
    eval_best: nullable(
      Type.Number({ description: 'The best value of the evaluations that have SUCCEEDED.' }),
    ),
    eval_best_step: nullable(Type.Integer({ description: 'The step of its checkpoint.' })),
    eval_protocol: nullable(Protocol),
  },
  { $id: 'Convergence' },
);
export type Convergence = Static<typeof Convergence>;

export const RunProgressRecord = strict({
  step: nullable(Type.Integer()),
  max_steps: nullable(Type.Integer()),
  epoch: nullable(Type.Number()),
  fraction: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  steps_per_s: nullable(Pace),
  time_left: nullable(
    strict(
      { likely_s: Seconds, least_s: Seconds, most_s: Seconds },
      {
        description:
          'While the run is RUNNING: by the pace of its last points, and by the fastest and the slowest part of it.',
      },
    ),
  ),
});
export type RunProgressRecord = Static<typeof RunProgressRecord>;

export const Throughput = strict({
  metric: Type.String({ description: 'Whose last points were measured.' }),
  from_step: Type.Integer({ description: 'The first of these points.' }),
  steps_per_s: Pace,
  before_steps_per_s: nullable(Pace),
  change: nullable(
    Type.Number({ description: 'Of the last points against the time before them; -0.5: half as fast.' }),
  ),
});
export type Throughput = Static<typeof Throughput>;

export const GpuUse = strict(
  {
    node_id: Type.String(),
    utilization_percent: Type.Number({ description: 'The mean over the slots.' }),
    slots: Type.Array(
      strict({
        index: Type.Integer(),
        utilization_percent: Type.Number(),
        memory_used_mb: nullable(Type.Number()),
        memory_total_mb: nullable(Type.Number()),
      }),
    ),
  },
  { description: 'Of the GPU slots that its job holds: means over the run.' },
);
export type GpuUse = Static<typeof GpuUse>;

export const HealthWarning = strict({
  status: Type.Enum([...HEALTH_STATUSES]),
  message: Type.String(),
  evidence: Evidence,
});
export type HealthWarning = Static<typeof HealthWarning>;

export const Diagnosis = strict(
  {
    run_id: Type.String(),
    job_id: nullable(Type.String()),
    attempt: nullable(Type.Integer()),
    status: RunStatusName,
    summary: Type.String({ description: 'The answer in a few sentences.' }),
    progress: RunProgressRecord,
    convergence: Convergence,
    anomalies: Type.Array(Anomaly, { description: 'The most severe first; none of a run that goes well.' }),
    health: RunHealth,
    health_warnings: Type.Array(HealthWarning, { description: 'The reasons of `health`, with evidence.' }),
    throughput: nullable(Throughput),
    gpu: nullable(GpuUse),
    last_point_at: nullable(Timestamp),
    since_last_point_s: nullable(Seconds),
    last_errors: Type.Array(LogLine, { description: 'The last error lines of its log, oldest first.' }),
    next_actions: Type.Array(NextActionRecord, { description: 'Best first.' }),
  },
  { $id: 'Diagnosis' },
);
export type Diagnosis = Static<typeof Diagnosis>;
