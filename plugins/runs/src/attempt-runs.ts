import { isTerminal, type AttemptKey, type Job, type Run, type RunStatus } from '@svc/contract';
import type { Tx } from '@svc/kernel';
import type { JobAddition, JobTransition } from '@svc/plugin-jobs';
import { findAssigned } from './assigned-runs.js';
import { abandonedEvent, endedWithJobEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import {
  findRun,
  insertRun,
  changeStatus,
  OPEN_STATUSES,
  runsOfAttempt,
  type StatusChange,
} from './run-store.js';

/**
 * Keeps the runs of an attempt in sync with its job, within the transaction that changes the job, and returns the run id for the job.
 *
 * An attempt of a TRAIN job that has a process has a run with the id that the process was given. When the attempt ends, its open runs end
 * with it; while it is LOST, they are LOST; runs that are open when the job is retried are abandoned and stay LOST.
 */
export async function syncRunsWithJob(
  parts: RunParts,
  { tx, before, after, at }: JobTransition,
): Promise<JobAddition | undefined> {
  if (!before) return undefined;
  if (after.attempt !== before.attempt) {
    await abandonRuns(parts, tx, before, at);
    return undefined;
  }
  const run_id = mayHaveRun(after) ? await ensureJobRun(parts, tx, after, at) : null;
  await applyStatus(parts, tx, run_id === null ? after : { ...after, run_id }, at);
  return run_id === null ? undefined : { run_id };
}

/** Saves the look-up for a job that has not started, or that is an evaluation. */
function mayHaveRun({ type, status }: Job): boolean {
  return type === 'TRAIN' && (status === 'RUNNING' || isTerminal(status));
}

/** The report of an exit may come without that of the start, and a failed dispatch never had a process. */
function hasProcess({ status, started_at }: Job): boolean {
  return status === 'RUNNING' || status === 'SUCCEEDED' || started_at !== null;
}

/**
 * Creates the run of the attempt's process if it does not exist, and returns its id; null when the attempt has no run. The process may have
 * created the run itself by reporting to it.
 */
async function ensureJobRun(parts: RunParts, tx: Tx, job: Job, at: number): Promise<string | null> {
  const { id: job_id, attempt, node_id } = job;
  const given = node_id === null ? job : await findAssigned(tx, { job_id, attempt, node_id });
  const id = given?.run_id ?? null;
  if (id === null || (await findRun(tx, id))) return id;
  if (!hasProcess(job)) return null;
  const run: Run = { ...newJobRun(job, at), id };
  await insertRun(tx, run);
  parts.changed(tx, { before: null, after: run });
  return id;
}

/**
 * Creates the run of an attempt whose process reports to it before the agent has reported the start: the agent may be disconnected while
 * its processes are not. null when the run was not assigned to the attempt. If the attempt is over, the run is created as ended.
 */
export async function ensureReportedRun(
  { jobs, events, changed }: RunParts,
  tx: Tx,
  key: AttemptKey,
  id: string,
  at: number,
): Promise<Run | null> {
  const { job_id, attempt } = key;
  const job = await jobs.lock(tx, job_id);
  if (!job || !(await findAssigned(tx, { run_id: id, job_id, attempt }))) return null;
  const found = await findRun(tx, id);
  if (found) return found;
  const status = toRunStatus(job, attempt);
  const run: Run = {
    ...newJobRun(job, at),
    id,
    attempt,
    status,
    finished_at: status === 'RUNNING' ? null : at,
  };
  await insertRun(tx, run);
  changed(tx, { before: null, after: run });
  // The end of the present attempt has its event from the job. It lacks this run, which did not exist then.
  if (attempt !== job.attempt) await events.append(tx, abandonedEvent(run), at);
  return run;
}

/** The status of the run of an attempt, by the present state of its job. */
function toRunStatus({ attempt: present, status }: Job, attempt: number): RunStatus {
  if (attempt !== present || status === 'LOST') return 'LOST';
  return isTerminal(status) ? (status as RunStatus) : 'RUNNING';
}

function newJobRun(job: Job, at: number): Omit<Run, 'id'> {
  return {
    name: job.name,
    project_id: job.project_id,
    experiment_id: job.experiment_id,
    job_id: job.id,
    attempt: job.attempt,
    source: 'job',
    status: 'RUNNING',
    step: null,
    epoch: null,
    max_steps: null,
    config: {},
    environment: {},
    tags: [],
    notes: '',
    created_at: at,
    started_at: job.started_at ?? at,
    finished_at: null,
    stale_since: null,
  };
}

async function applyStatus(parts: RunParts, tx: Tx, job: Job, at: number): Promise<void> {
  const endedAt = job.finished_at ?? at;
  if (isTerminal(job.status))
    await endRuns(parts, tx, job, { status: job.status as RunStatus, finished_at: endedAt }, at);
  if (job.status === 'LOST')
    await changeStatusOfAll(parts, tx, job, ['RUNNING'], { status: 'LOST', finished_at: endedAt });
  if (job.status === 'RUNNING')
    await changeStatusOfAll(parts, tx, job, ['LOST'], { status: 'RUNNING', finished_at: null });
}

async function endRuns(parts: RunParts, tx: Tx, job: Job, to: StatusChange, at: number): Promise<void> {
  for (const run of await changeStatusOfAll(parts, tx, job, OPEN_STATUSES, to)) {
    await parts.auth.endIngest(tx, { run_id: run.id }, at);
    // The jobs plugin appends the event of the job's own run.
    if (run.id !== job.run_id) await parts.events.append(tx, endedWithJobEvent(run, job), at);
  }
}

async function abandonRuns(parts: RunParts, tx: Tx, job: Job, at: number): Promise<void> {
  await changeStatusOfAll(parts, tx, job, ['RUNNING'], { status: 'LOST', finished_at: at });
  for (const run of await runsOfAttempt(tx, job.id, job.attempt, ['LOST'])) {
    await parts.auth.endIngest(tx, { run_id: run.id }, at);
    await parts.events.append(tx, abandonedEvent(run), at);
  }
}

/** Returns the changed runs. */
async function changeStatusOfAll(
  parts: RunParts,
  tx: Tx,
  job: Job,
  from: readonly RunStatus[],
  to: StatusChange,
): Promise<Run[]> {
  const moved: Run[] = [];
  for (const before of await runsOfAttempt(tx, job.id, job.attempt, from)) {
    const after = await changeStatus(tx, before.id, from, to);
    if (!after) continue;
    parts.changed(tx, { before, after });
    moved.push(after);
  }
  return moved;
}
