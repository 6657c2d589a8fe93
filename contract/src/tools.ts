import { Type, type TObject } from 'typebox';
import { EVENT_TYPES, LOG_STREAMS, SEVERITIES } from './protocol/enums.js';
import { JOB_STATUSES } from './protocol/job-states.js';
import { MetricName } from './records/metric.js';
import { strict, text } from './route.js';

const Id = text(64, 1);
const Limit = Type.Integer({ minimum: 1, maximum: 1000 });
const Step = Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const Attempt = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });
const Command = Type.Array(text(131_072), { minItems: 1, maxItems: 1000 });
const Ids = Type.Array(Id, { minItems: 2, maxItems: 50 });
const Label = text(200);
/** As `before` of the REST API: the list goes on behind that item. */
const Page = { before: Type.Optional(Id), limit: Type.Optional(Limit) };
/** For what has no such item: so many are left out at the beginning. */
const Offset = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }));
const IdempotencyKey = Type.Optional(Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$' }));

/** What tells apart the values of one metric: a comparison holds within one of them. */
const Protocol = {
  metric: Type.Optional(MetricName),
  suite: Type.Optional(Label),
  dataset: Type.Optional(Label),
  dataset_version: Type.Optional(Label),
};

/** The 20 tools of the MCP adapter with the schema of their arguments. `next_actions` of answers name these tools, and their `args` pass these schemas. */
export const TOOL_INPUTS = {
  list_nodes: strict(Page),
  get_node_status: strict({ node_id: Id }),
  list_jobs: strict({
    status: Type.Optional(Type.Enum([...JOB_STATUSES])),
    limit: Type.Optional(Limit),
    before: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  get_job: strict({ job_id: Id }),
  get_run_summary: strict({ run_id: Id, offset: Offset }),
  query_metrics: strict({
    run_id: Id,
    names: Type.Optional(Type.Array(MetricName, { minItems: 1, maxItems: 100 })),
    step_from: Type.Optional(Step),
    step_to: Type.Optional(Step),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    offset: Offset,
  }),
  tail_logs: strict({
    job_id: Id,
    stream: Type.Optional(Type.Enum([...LOG_STREAMS])),
    tail: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000 })),
    attempt: Type.Optional(Attempt),
    search: Type.Optional(text(500, 1)),
    before: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  }),
  list_events: strict({
    run_id: Type.Optional(Id),
    job_id: Type.Optional(Id),
    node_id: Type.Optional(Id),
    type: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: `One of ${EVENT_TYPES.join(', ')}.` }),
    ),
    severity: Type.Optional(Type.Enum([...SEVERITIES])),
    ...Page,
  }),
  list_checkpoints: strict({ run_id: Id, ...Page }),
  list_evaluations: strict({ run_id: Type.Optional(Id), checkpoint_id: Type.Optional(Id), ...Page }),
  list_metric_definitions: strict({
    project_id: Type.Optional(Id),
    experiment_id: Type.Optional(Id),
    offset: Offset,
  }),
  submit_job: strict({
    command: Command,
    working_dir: Type.Optional(text(4096, 1)),
    gpus: Type.Optional(Type.Integer({ minimum: 0, maximum: 1024 })),
    cpu_only: Type.Optional(Type.Boolean()),
    project: Type.Optional(text(200, 1)),
    snapshot: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'The SHA-256 of an uploaded source tree to run in.',
      }),
    ),
    experiment: Type.Optional(text(200, 1)),
    runner: Type.Optional(text(64, 1)),
    image: Type.Optional(text(512, 1)),
    runner_options: Type.Optional(Type.Object({}, { additionalProperties: true })),
    idempotency_key: IdempotencyKey,
  }),
  evaluate_checkpoint: strict({
    checkpoint_id: Id,
    command: Command,
    suite: Type.Optional(Label),
    dataset: Type.Optional(Label),
    dataset_version: Type.Optional(Label),
    idempotency_key: IdempotencyKey,
  }),
  cancel_job: strict({ job_id: Id, confirm: Type.Boolean() }),
  retry_job: strict({ job_id: Id }),
  diagnose_run: strict({ run_id: Id }),
  compare_runs: strict({ ids: Ids, ...Protocol, offset: Offset }),
  compare_checkpoints: strict({ ids: Ids, ...Protocol, offset: Offset }),
  get_best_checkpoint: strict({ run_id: Type.Optional(Id), experiment_id: Type.Optional(Id), ...Protocol }),
  explain_failure: strict({
    run_id: Type.Optional(Id),
    job_id: Type.Optional(Id),
    attempt: Type.Optional(Attempt),
  }),
} as const satisfies Record<string, TObject>;

export type ToolName = keyof typeof TOOL_INPUTS;

export const TOOL_NAMES = Object.keys(TOOL_INPUTS) as ToolName[];
