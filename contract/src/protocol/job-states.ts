export const JOB_STATUSES = [
  'QUEUED',
  'DISPATCHING',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'LOST',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const TERMINAL_STATUSES: readonly JobStatus[] = ['SUCCEEDED', 'FAILED', 'CANCELLED'];

/** What can happen to a job. `found` is an agent that comes back with the attempt still running. */
export const JOB_TRIGGERS = [
  'claim',
  'ack_timeout',
  'started',
  'exited_ok',
  'exited_bad',
  'dispatch_failed',
  'cancelled',
  'lost',
  'found',
  'retry',
] as const;
export type JobTrigger = (typeof JOB_TRIGGERS)[number];

/**
 * The job state machine: `JOB_TRANSITIONS[trigger][from] = to`. What is not here is refused.
 * Must hold: a terminal state is left by `retry` alone; only `retry` raises the attempt, by one.
 */
export const JOB_TRANSITIONS: Readonly<Record<JobTrigger, Partial<Record<JobStatus, JobStatus>>>> = {
  claim: { QUEUED: 'DISPATCHING' },
  ack_timeout: { DISPATCHING: 'QUEUED' },
  started: { DISPATCHING: 'RUNNING' },
  // An exit may overtake its own start report, and an attempt given up as LOST may come back with its real end.
  exited_ok: { DISPATCHING: 'SUCCEEDED', RUNNING: 'SUCCEEDED', LOST: 'SUCCEEDED' },
  exited_bad: { DISPATCHING: 'FAILED', RUNNING: 'FAILED', LOST: 'FAILED' },
  dispatch_failed: { DISPATCHING: 'FAILED' },
  cancelled: { QUEUED: 'CANCELLED', DISPATCHING: 'CANCELLED', RUNNING: 'CANCELLED', LOST: 'CANCELLED' },
  lost: { DISPATCHING: 'LOST', RUNNING: 'LOST' },
  found: { LOST: 'RUNNING' },
  retry: { SUCCEEDED: 'QUEUED', FAILED: 'QUEUED', CANCELLED: 'QUEUED', LOST: 'QUEUED' },
};

/** The state after the trigger, or null when the transition is refused. */
export function nextJobStatus(from: JobStatus, trigger: JobTrigger): JobStatus | null {
  return JOB_TRANSITIONS[trigger][from] ?? null;
}

export function isTerminal(status: JobStatus): boolean {
  return TERMINAL_STATUSES.includes(status);
}

/** `pending_reason` of a job that the scheduler has not looked at yet: nothing to wait for is known. */
export const JUST_QUEUED = 'just queued';
