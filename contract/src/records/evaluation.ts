import { Type, type Static } from 'typebox';
import { EVALUATION_STATUSES } from '../protocol/enums.js';
import { EVALUATION_METRIC_NAME } from '../protocol/limits.js';
import { Timestamp, nullable, strict } from '../route.js';
import { JobSubmit } from './job.js';
import { MetricValue } from './metric.js';
import { Name } from './project.js';

/** What an evaluation script leaves in the file that `SVC_EVAL_OUTPUT` names. */
export const EvaluationResult = strict(
  {
    metrics: Type.Record(Type.String({ pattern: EVALUATION_METRIC_NAME }), MetricValue, {
      additionalProperties: false,
    }),
    runtime_s: Type.Number({ description: 'Seconds.' }),
  },
  { $id: 'EvaluationResult' },
);
export type EvaluationResult = Static<typeof EvaluationResult>;

export const EvaluationStatusName = Type.Enum([...EVALUATION_STATUSES]);
export type EvaluationStatus = Static<typeof EvaluationStatusName>;

/** Labels that group and filter evaluations. They never influence the script. */
export const Protocol = strict(
  { suite: nullable(Name), dataset: nullable(Name), dataset_version: nullable(Name) },
  { $id: 'Protocol' },
);
export type Protocol = Static<typeof Protocol>;

export const EvaluationSubmit = strict(
  {
    command: JobSubmit.properties.command,
    suite: Type.Optional(Name),
    dataset: Type.Optional(Name),
    dataset_version: Type.Optional(Name),
    working_dir: JobSubmit.properties.working_dir,
    env: JobSubmit.properties.env,
    resources: JobSubmit.properties.resources,
    priority: JobSubmit.properties.priority,
    node_selector: JobSubmit.properties.node_selector,
    max_attempts: JobSubmit.properties.max_attempts,
    snapshot: JobSubmit.properties.snapshot,
  },
  { $id: 'EvaluationSubmit' },
);
export type EvaluationSubmit = Static<typeof EvaluationSubmit>;

export const Evaluation = strict(
  {
    id: Type.String(),
    checkpoint_id: Type.String(),
    run_id: Type.String({ description: 'The run that saved the checkpoint.' }),
    job_id: Type.String(),
    ...Protocol.properties,
    status: EvaluationStatusName,
    metrics: Type.Record(Type.String(), MetricValue, { description: 'Empty until it has SUCCEEDED.' }),
    runtime_s: nullable(Type.Number()),
    error: nullable(Type.String({ description: 'Why it has not SUCCEEDED.' })),
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { $id: 'Evaluation' },
);
export type Evaluation = Static<typeof Evaluation>;
