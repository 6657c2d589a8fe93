import { JOB_STATUSES, type Job, type JobStatus } from '@svc/contract';
import { Type } from 'typebox';
import { POLL_INTERVAL_MS } from './job-actions.js';

export const TASK_STATES = ['working', 'cancelled', 'completed', 'failed'] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** The server keeps a job until it is removed on demand: this is how long a caller may rely on it. */
export const HANDLE_TTL_MS = 24 * 60 * 60 * 1000;

/** What a Control tool answers with: how to follow what it began. */
export const Handle = {
  task_id: Type.String({ description: 'The id of the job.' }),
  state: Type.Enum([...TASK_STATES]),
  status: Type.String({
    description: `Of the job (${JOB_STATUSES.join(', ')}), or the result of the cancel.`,
  }),
  ttl: Type.Integer({ description: 'Milliseconds for which the task can be asked for.' }),
  poll_interval: Type.Integer({ description: 'Ask for the state again after so many milliseconds.' }),
};

const STATES: Readonly<Record<JobStatus, TaskState>> = {
  QUEUED: 'working',
  DISPATCHING: 'working',
  RUNNING: 'working',
  LOST: 'working',
  SUCCEEDED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

export function toTaskState(status: JobStatus): TaskState {
  return STATES[status];
}

export function toHandle(task_id: string, state: TaskState, status: string) {
  return { task_id, state, status, ttl: HANDLE_TTL_MS, poll_interval: POLL_INTERVAL_MS };
}

export function handleOf({ id, status }: Job) {
  return toHandle(id, toTaskState(status), status);
}
