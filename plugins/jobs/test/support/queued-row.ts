import { newId } from '@svc/contract';
import type { JobRow } from '../../src/job-row.js';

let lastCreatedAt = 1_700_000_000_000;

/** A row of `jobs` as a submit leaves it, each younger than the one before. */
export function toQueuedRow(changes: Partial<JobRow> = {}): JobRow {
  const at = ++lastCreatedAt;
  return {
    id: newId('job', at),
    name: 'train',
    type: 'TRAIN',
    command: '["train"]',
    working_dir: null,
    snapshot: null,
    runner: 'process',
    runner_options: '{}',
    gpu: 1,
    priority: 0,
    project: null,
    experiment: null,
    project_id: null,
    experiment_id: null,
    env: '{}',
    node_selector: '{}',
    max_attempts: 1,
    attempt: 1,
    status: 'QUEUED',
    pending_reason: null,
    exit_code: null,
    failure_reason: null,
    failure_message: null,
    run_id: null,
    checkpoint_id: null,
    evaluation_id: null,
    node_id: null,
    gpu_indices: '[]',
    created_at: at,
    queued_at: at,
    dispatched_at: null,
    started_at: null,
    finished_at: null,
    cancel_requested_at: null,
    not_before: null,
    retry_at: null,
    head_since: null,
    search_name: 'train',
    preferred_node_id: null,
    ...changes,
  };
}
