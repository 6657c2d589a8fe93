import { Type, type Static } from 'typebox';
import { PLAIN, Timestamp, nullable, strict, text } from '../route.js';
import { FAILURE_REASONS, JOB_TYPES } from '../protocol/enums.js';
import { JOB_STATUSES } from '../protocol/job-states.js';
import { Name, Placement } from './project.js';
import { Sha256 } from './snapshot.js';

export const JobStatusName = Type.Enum([...JOB_STATUSES]);
export const JobType = Type.Enum([...JOB_TYPES]);
export type JobType = Static<typeof JobType>;

export const FailureReason = Type.Enum([...FAILURE_REASONS]);
export type FailureReason = Static<typeof FailureReason>;

export const Resources = strict({ gpu: Type.Integer(), cpu_only: Type.Boolean() });
export type Resources = Static<typeof Resources>;

export const Labels = Type.Record(
  Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]{1,100}$' }),
  Type.String({
    maxLength: 200,
    pattern: PLAIN,
    description: 'Text of at most 200 characters, without NUL.',
  }),
  {
    additionalProperties: false,
    maxProperties: 64,
    description: 'The name of a label has 1 to 100 characters and no control character, such as rack.',
  },
);
export type Labels = Static<typeof Labels>;

const EnvName = '^[A-Za-z_][A-Za-z0-9_]*$';
/** No NUL: an environment or an argument list cannot carry one. */
const Text = (maxLength: number) =>
  Type.String({
    maxLength,
    pattern: PLAIN,
    description: `Text of at most ${maxLength} characters, without NUL.`,
  });
export const Env = Type.Record(Type.String({ pattern: EnvName }), Text(131_072), {
  additionalProperties: false,
  maxProperties: 1000,
  description:
    'The name of a variable has letters without accents, digits and underscores, and does not begin with a digit, such as LEARNING_RATE.',
});

export const JobSubmit = strict(
  {
    name: Type.Optional(Name),
    command: Type.Array(Text(131_072), { minItems: 1, maxItems: 1000 }),
    working_dir: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        pattern: '^/[^\\u0000\\ud800-\\udfff]*$',
        description: 'An absolute path on the host of the agent, such as /data/project.',
      }),
    ),
    type: Type.Optional(JobType),
    runner: Type.Optional(text(64, 1)),
    image: Type.Optional(text(512, 1)),
    runner_options: Type.Optional(Type.Object({}, { additionalProperties: true })),
    resources: Type.Optional(
      strict({
        gpu: Type.Optional(Type.Integer({ minimum: 0, maximum: 1024 })),
        cpu_only: Type.Optional(Type.Boolean()),
      }),
    ),
    priority: Type.Optional(Type.Integer({ minimum: -1000, maximum: 1000 })),
    project: Type.Optional(Name),
    experiment: Type.Optional(Name),
    env: Type.Optional(Env),
    node_selector: Type.Optional(Labels),
    max_attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    snapshot: Type.Optional(Sha256),
  },
  { $id: 'JobSubmit' },
);
export type JobSubmit = Static<typeof JobSubmit>;

export const Job = strict(
  {
    id: Type.String(),
    name: Type.String(),
    type: JobType,
    command: Type.Array(Type.String()),
    working_dir: nullable(Type.String()),
    snapshot: nullable(
      Type.String({ description: 'The SHA-256 of the source tree that is its working directory.' }),
    ),
    runner: Type.String(),
    image: nullable(Type.String()),
    runner_options: Type.Object({}, { additionalProperties: true }),
    resources: Resources,
    priority: Type.Integer(),
    project: nullable(Type.String()),
    experiment: nullable(Type.String()),
    ...Placement,
    env: Type.Record(Type.String(), Type.String()),
    node_selector: Labels,
    max_attempts: Type.Integer(),
    attempt: Type.Integer(),
    status: JobStatusName,
    pending_reason: nullable(Type.String()),
    exit_code: nullable(Type.Integer()),
    failure_reason: nullable(FailureReason),
    failure_message: nullable(Type.String()),
    run_id: nullable(Type.String()),
    checkpoint_id: nullable(Type.String()),
    evaluation_id: nullable(Type.String()),
    node_id: nullable(Type.String()),
    gpu_indices: Type.Array(Type.Integer()),
    created_at: Timestamp,
    queued_at: Timestamp,
    dispatched_at: nullable(Timestamp),
    started_at: nullable(Timestamp),
    finished_at: nullable(Timestamp),
  },
  { $id: 'Job' },
);
export type Job = Static<typeof Job>;

/** One attempt of a job. An attempt that was LOST and given up by a retry has `finished_at`: when it was given up, or its end as its agent told it later. */
export const JobAttempt = strict(
  {
    attempt: Type.Integer(),
    status: JobStatusName,
    node_id: nullable(Type.String()),
    run_id: nullable(Type.String()),
    exit_code: nullable(Type.Integer()),
    failure_reason: nullable(FailureReason),
    failure_message: nullable(Type.String()),
    started_at: nullable(Timestamp),
    finished_at: nullable(Timestamp),
  },
  { $id: 'JobAttempt' },
);
export type JobAttempt = Static<typeof JobAttempt>;

/** A submit with its defaults filled in and its references resolved: what the `jobDraft` and `jobAdmit` hooks see. */
export type JobDraft = Pick<
  Job,
  | 'name'
  | 'type'
  | 'command'
  | 'working_dir'
  | 'snapshot'
  | 'runner'
  | 'image'
  | 'runner_options'
  | 'resources'
  | 'priority'
  | 'project'
  | 'experiment'
  | 'env'
  | 'node_selector'
  | 'max_attempts'
>;

/** What starts a job on a node, as the server knows it. `placement`: `external` takes no GPU slot of a node. */
export const Runner = strict(
  {
    name: Type.String(),
    placement: Type.Enum(['slots', 'external']),
    options_schema: Type.Object({}, { additionalProperties: true }),
  },
  { $id: 'Runner' },
);
export type Runner = Static<typeof Runner>;

/** What a caller without write scope sees in place of an env value. */
export const HIDDEN = '***';
