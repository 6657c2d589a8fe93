import { isTerminal, type AttemptKey, type Job, type Run, type RunStatus } from '@svc/contract';
import type { Tx } from '@svc/kernel';
import type { JobAddition, JobTransition } from '@svc/plugin-jobs';
import { findAssigned, isAssigned } from './assigned-runs.js';
import { finishedEvent, leftBehindEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { findRun, insertRun, moveRun, OPEN_STATUSES, runsOfAttempt, type RunMove } from './run-store.js';

/**
 * Keeps the runs of an attempt in step with its job, within the job's own transaction, and adds its run to the job.
 *
 * An attempt of a TRAIN job whose process exists has a run of the id that its process was given. When the attempt ends, its open
 * runs end with it; while it is LOST so are they; those still open when the job is retried stay behind as LOST.
 */
export async function followJob(
  parts: RunParts,
  { tx, before, after, at }: JobTransition,
): Promise<JobAddition | undefined> {
  if (!before) return undefined;
  if (after.attempt !== before.attempt) {
    await leaveBehind(parts, tx, before, at);
    return undefined;
  }
  const run_id = mayHaveRun(after) ? await ensureJobRun(parts, tx, after, at) : null;
  await moveWith(parts, tx, run_id === null ? after : { ...after, run_id }, at);
  return run_id === null ? undefined : { run_id };
}

/** Nothing is looked up for a job on its way to its start, nor for one that is evaluated. */
function mayHaveRun({ type, status }: Job): boolean {
  return type === 'TRAIN' && (status === 'RUNNING' || isTerminal(status));
}

/** An exit may overtake the report of its start, and a dispatch that failed never had a process. */
function hasProcess({ status, started_at }: Job): boolean {
  return status === 'RUNNING' || status === 'SUCCEEDED' || started_at !== null;
}

/**
 * The id of the run that the process was given, which is there from now on; also where nobody but the process itself has told of its
 * start. null: there is none.
 */
async function ensureJobRun(parts: RunParts, tx: Tx, job: Job, at: number): Promise<string | null> {
  const { id: job_id, attempt, node_id } = job;
  const id = node_id === null ? job.run_id : await findAssigned(tx, { job_id, attempt, node_id });
  if (id === null || (await findRun(tx, id))) return id;
  if (!hasProcess(job)) return null;
  const run: Run = { ...newJobRun(job, at), id };
  await insertRun(tx, run);
  parts.changed(tx, { before: null, after: run });
  return id;
}

/**
 * The run of an attempt whose process reports to it before the agent's word of its start is here: an agent may be cut off that its
 * processes are not. null: the attempt was not given that run. It has ended already when its attempt is over.
 */
export async function ensureReportedRun(
  { jobs, events, changed }: RunParts,
  tx: Tx,
  key: AttemptKey,
  id: string,
  at: number,
): Promise<Run | null> {
  const job = await jobs.lock(tx, key.job_id);
  if (!job || !(await isAssigned(tx, key, id))) return null;
  const found = await findRun(tx, id);
  if (found) return found;
  const { attempt } = key;
  const status = toRunStatus(job, attempt);
  const run: Run = {
    ...newJobRun(job, at),
    ...{ id, attempt, status, finished_at: status === 'RUNNING' ? null : at },
  };
  await insertRun(tx, run);
  changed(tx, { before: null, after: run });
  // The end of the present attempt has been told by its job, though without this run, which nobody knew then.
  if (attempt !== job.attempt) await events.append(tx, leftBehindEvent(run), at);
  return run;
}

/** What the run of an attempt is while its job is as it is. */
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
  };
}

async function moveWith(parts: RunParts, tx: Tx, job: Job, at: number): Promise<void> {
  const endedAt = job.finished_at ?? at;
  if (isTerminal(job.status))
    await endWith(parts, tx, job, { status: job.status as RunStatus, finished_at: endedAt }, at);
  if (job.status === 'LOST')
    await moveAll(parts, tx, job, ['RUNNING'], { status: 'LOST', finished_at: endedAt });
  if (job.status === 'RUNNING')
    await moveAll(parts, tx, job, ['LOST'], { status: 'RUNNING', finished_at: null });
}

async function endWith(parts: RunParts, tx: Tx, job: Job, to: RunMove, at: number): Promise<void> {
  for (const run of await moveAll(parts, tx, job, OPEN_STATUSES, to)) {
    await parts.auth.endIngest(tx, { run_id: run.id }, at);
    // The jobs plugin tells of the job's own run.
    if (run.id !== job.run_id) await parts.events.append(tx, finishedEvent(run), at);
  }
}

async function leaveBehind(parts: RunParts, tx: Tx, job: Job, at: number): Promise<void> {
  await moveAll(parts, tx, job, ['RUNNING'], { status: 'LOST', finished_at: at });
  for (const run of await runsOfAttempt(tx, job.id, job.attempt, ['LOST'])) {
    await parts.auth.endIngest(tx, { run_id: run.id }, at);
    await parts.events.append(tx, leftBehindEvent(run), at);
  }
}

/** The runs that were moved, as they then are. */
async function moveAll(
  parts: RunParts,
  tx: Tx,
  job: Job,
  from: readonly RunStatus[],
  to: RunMove,
): Promise<Run[]> {
  const moved: Run[] = [];
  for (const before of await runsOfAttempt(tx, job.id, job.attempt, from)) {
    const after = await moveRun(tx, before.id, from, to);
    if (!after) continue;
    parts.changed(tx, { before, after });
    moved.push(after);
  }
  return moved;
}
