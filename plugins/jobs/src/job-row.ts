import {
  withoutDirection,
  type AttemptKey,
  type FailureReason,
  type Job,
  type JobAttempt,
  type JobStatus,
  type JobType,
} from '@svc/contract';

/** A row of `jobs`: the public record, and from `cancel_requested_at` on columns that only this plugin uses. Times in ms. */
export interface JobRow {
  id: string;
  name: string;
  type: JobType;
  command: string;
  working_dir: string | null;
  snapshot: string | null;
  runner: string;
  runner_options: string;
  /** 0: a cpu-only job. */
  gpu: number;
  priority: number;
  project: string | null;
  experiment: string | null;
  project_id: string | null;
  experiment_id: string | null;
  env: string;
  node_selector: string;
  max_attempts: number;
  attempt: number;
  status: JobStatus;
  pending_reason: string | null;
  exit_code: number | null;
  failure_reason: FailureReason | null;
  failure_message: string | null;
  run_id: string | null;
  checkpoint_id: string | null;
  evaluation_id: string | null;
  node_id: string | null;
  gpu_indices: string;
  created_at: number;
  queued_at: number;
  dispatched_at: number | null;
  started_at: number | null;
  finished_at: number | null;
  /** When a cancel of the present attempt was requested. */
  cancel_requested_at: number | null;
  /** QUEUED: the job is not started before this time (back-off). */
  not_before: number | null;
  /** FAILED or LOST: when the automatic retry is due. */
  retry_at: number | null;
  /** QUEUED: since when the job is the first that waits for its nodes. */
  head_since: number | null;
  search_name: string;
  /** The node that holds what the job works on. */
  preferred_node_id: string | null;
}

/** A row of `attempts`. After an acknowledgement time-out it still has the node, as the agent there may have the attempt. */
export interface AttemptRow extends AttemptKey {
  run_id: string | null;
  node_id: string | null;
  gpu_indices: string;
  status: JobStatus;
  exit_code: number | null;
  failure_reason: FailureReason | null;
  failure_message: string | null;
  dispatched_at: number | null;
  /** When the agent said that it has the attempt on disk. */
  accepted_at: number | null;
  started_at: number | null;
  finished_at: number | null;
}

/** The fields are written out because rest syntax is slow on so wide a row, and lists are long. */
export function toJob(row: JobRow): Job {
  const options = JSON.parse(row.runner_options) as Job['runner_options'] & { image?: unknown };
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    command: JSON.parse(row.command) as string[],
    working_dir: row.working_dir,
    snapshot: row.snapshot,
    runner: row.runner,
    image: typeof options.image === 'string' ? options.image : null,
    runner_options: options,
    resources: { gpu: row.gpu, cpu_only: row.gpu === 0 },
    priority: row.priority,
    project: row.project,
    experiment: row.experiment,
    project_id: row.project_id,
    experiment_id: row.experiment_id,
    env: JSON.parse(row.env) as Job['env'],
    node_selector: JSON.parse(row.node_selector) as Job['node_selector'],
    max_attempts: row.max_attempts,
    attempt: row.attempt,
    status: row.status,
    pending_reason: row.pending_reason === null ? null : withoutDirection(row.pending_reason),
    exit_code: row.exit_code,
    failure_reason: row.failure_reason,
    failure_message: row.failure_message,
    run_id: row.run_id,
    checkpoint_id: row.checkpoint_id,
    evaluation_id: row.evaluation_id,
    node_id: row.node_id,
    gpu_indices: JSON.parse(row.gpu_indices) as number[],
    created_at: row.created_at,
    queued_at: row.queued_at,
    dispatched_at: row.dispatched_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
  };
}

/** The attempt for callers: a queued attempt has no node. */
export function toJobAttempt(row: AttemptRow): JobAttempt {
  const { attempt, status, run_id, exit_code, failure_reason, failure_message, started_at, finished_at } =
    row;
  return {
    attempt,
    status,
    node_id: status === 'QUEUED' ? null : row.node_id,
    run_id,
    exit_code,
    failure_reason,
    failure_message,
    started_at,
    finished_at,
  };
}

/** The columns that the attempt copies from its job. `run_id` and `accepted_at` are set where they become known. */
export function toAttemptColumns(row: JobRow) {
  return {
    job_id: row.id,
    attempt: row.attempt,
    run_id: row.run_id,
    node_id: row.node_id,
    gpu_indices: row.gpu_indices,
    status: row.status,
    exit_code: row.exit_code,
    failure_reason: row.failure_reason,
    failure_message: row.failure_message,
    dispatched_at: row.dispatched_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
  };
}
