import {
  isTerminal,
  type AttemptKey,
  type EventRecord,
  type Job,
  type Run,
  type RunStatus,
} from '@svc/contract';
import type { Change, Db, JobTransition } from '@svc/kernel';
import { findAssigned, isAssigned } from './assigned-runs.js';
import { NOTHING, type Outcome } from './outcome.js';
import { finishedEvent, leftBehindEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { findRun, insertRun, moveRun, OPEN_STATUSES, runsOfAttempt, type RunMove } from './run-store.js';

/**
 * Keeps the runs of an attempt in step with its job, within the job's own transaction.
 *
 * An attempt of a TRAIN job whose process exists has a run of the id that its process was given. When the attempt ends, its open
 * runs end with it; while it is LOST so are they; those still open when the job is retried stay behind as LOST.
 */
export async function followJob(
  parts: RunParts,
  { trx, before, after, at }: JobTransition,
): Promise<Outcome> {
  if (!before) return NOTHING;
  if (after.attempt !== before.attempt) return leaveBehind(parts, trx, before, at);
  const created = mayHaveRun(after) ? await ensureJobRun(trx, after, at) : [];
  const moved = await moveWith(parts, trx, after, at);
  return { changes: [...created, ...moved.changes], events: moved.events };
}

/** Nothing is looked up for a job on its way to its start, nor for one that is evaluated. */
function mayHaveRun({ type, status }: Job): boolean {
  return type === 'TRAIN' && (status === 'RUNNING' || isTerminal(status));
}

/** An exit may overtake the report of its start, and a dispatch that failed never had a process. */
function hasProcess({ status, started_at }: Job): boolean {
  return status === 'RUNNING' || status === 'SUCCEEDED' || started_at !== null;
}

/** The run that the process was given; also where nobody but the process itself has told of its start. */
async function ensureJobRun(trx: Db, job: Job, at: number): Promise<Change<Run>[]> {
  const { id: job_id, attempt, node_id } = job;
  const id = node_id === null ? job.run_id : await findAssigned(trx, { job_id, attempt, node_id });
  if (id === null) return [];
  const isThere = (await findRun(trx, id)) !== null;
  if (!isThere && !hasProcess(job)) return [];
  // The jobs plugin stores what a tap of this hook sets.
  (job as { run_id: string | null }).run_id = id;
  if (isThere) return [];
  const run: Run = { ...newJobRun(job, at), id };
  await insertRun(trx, run);
  return [{ before: null, after: run }];
}

export interface ReportedRun extends Outcome {
  readonly run: Run;
}

/**
 * The run of an attempt whose process reports to it before the agent's word of its start is here: an agent may be cut off that its
 * processes are not. null: the attempt was not given that run. It has ended already when its attempt is over.
 */
export async function ensureReportedRun(
  { jobs, events }: RunParts,
  trx: Db,
  key: AttemptKey,
  id: string,
  at: number,
): Promise<ReportedRun | null> {
  const job = await jobs.lock(trx, key.job_id);
  if (!job || !(await isAssigned(trx, key, id))) return null;
  const found = await findRun(trx, id);
  if (found) return { run: found, ...NOTHING };
  const { attempt } = key;
  const status = toRunStatus(job, attempt);
  const run: Run = {
    ...newJobRun(job, at),
    ...{ id, attempt, status, finished_at: status === 'RUNNING' ? null : at },
  };
  await insertRun(trx, run);
  // The end of the present attempt has been told by its job, though without this run, which nobody knew then.
  const isGivenUp = attempt !== job.attempt;
  const told = isGivenUp ? [await events.append(trx, leftBehindEvent(run), at)] : [];
  return { run, changes: [{ before: null, after: run }], events: told };
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

async function moveWith(parts: RunParts, trx: Db, job: Job, at: number): Promise<Outcome> {
  const endedAt = job.finished_at ?? at;
  if (isTerminal(job.status))
    return endWith(parts, trx, job, { status: job.status as RunStatus, finished_at: endedAt }, at);
  if (job.status === 'LOST') return moveAll(trx, job, ['RUNNING'], { status: 'LOST', finished_at: endedAt });
  if (job.status === 'RUNNING') return moveAll(trx, job, ['LOST'], { status: 'RUNNING', finished_at: null });
  return NOTHING;
}

async function endWith(
  { auth, events }: RunParts,
  trx: Db,
  job: Job,
  to: RunMove,
  at: number,
): Promise<Outcome> {
  const { changes } = await moveAll(trx, job, OPEN_STATUSES, to);
  const told: EventRecord[] = [];
  for (const { after } of changes) {
    await auth.endIngest(trx, { run_id: after.id }, at);
    // The jobs plugin tells of the job's own run.
    if (after.id !== job.run_id) told.push(await events.append(trx, finishedEvent(after), at));
  }
  return { changes, events: told };
}

async function leaveBehind({ auth, events }: RunParts, trx: Db, job: Job, at: number): Promise<Outcome> {
  const { changes } = await moveAll(trx, job, ['RUNNING'], { status: 'LOST', finished_at: at });
  const told: EventRecord[] = [];
  for (const run of await runsOfAttempt(trx, job.id, job.attempt, ['LOST'])) {
    await auth.endIngest(trx, { run_id: run.id }, at);
    told.push(await events.append(trx, leftBehindEvent(run), at));
  }
  return { changes, events: told };
}

async function moveAll(trx: Db, job: Job, from: readonly RunStatus[], to: RunMove): Promise<Outcome> {
  const changes: Change<Run>[] = [];
  for (const before of await runsOfAttempt(trx, job.id, job.attempt, from)) {
    const after = await moveRun(trx, before.id, from, to);
    if (after) changes.push({ before, after });
  }
  return { changes, events: [] };
}
