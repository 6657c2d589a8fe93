import type { AttemptKey, FailureReason, Job, JobStatus, JobType } from '@svc/contract';
import type { Attempt } from './service.js';

/** A row of `jobs`: the record, and from `cancel_requested_at` on what only this plugin needs. Times in ms. */
export interface JobRow {
  id: string;
  name: string;
  type: JobType;
  command: string;
  working_dir: string | null;
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
  /** Somebody wants the present attempt stopped. */
  cancel_requested_at: number | null;
  /** QUEUED: not to be started before. */
  not_before: number | null;
  /** FAILED or LOST: when it is to be queued again by itself. */
  retry_at: number | null;
  /** QUEUED: since when it is the first that waits for its nodes. */
  head_since: number | null;
}

/** A row of `attempts`. After an ack time-out it still says where the attempt was sent, for the agent may have it. */
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

export function toJob(row: JobRow): Job {
  const { runner_options, gpu, gpu_indices, command, env, node_selector, ...rest } = row;
  const { cancel_requested_at, not_before, retry_at, head_since, ...record } = rest;
  const options = JSON.parse(runner_options) as Job['runner_options'] & { image?: unknown };
  return {
    ...record,
    command: JSON.parse(command) as string[],
    image: typeof options.image === 'string' ? options.image : null,
    runner_options: options,
    resources: { gpu, cpu_only: gpu === 0 },
    env: JSON.parse(env) as Job['env'],
    node_selector: JSON.parse(node_selector) as Job['node_selector'],
    gpu_indices: JSON.parse(gpu_indices) as number[],
  };
}

export function toAttempt({ accepted_at, ...row }: AttemptRow): Attempt {
  return { ...row, gpu_indices: JSON.parse(row.gpu_indices) as number[] };
}

/** What the history keeps of the job's present attempt; the rest of its row is written where it becomes known. */
export function toAttemptColumns(row: JobRow) {
  return {
    job_id: row.id,
    attempt: row.attempt,
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
