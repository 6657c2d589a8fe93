import { isTerminal, newId, toId, type BodyOf, type Job, type Run, type routes } from '@svc/contract';
import { fail, requireId, type Caller, type Db, type Tx } from '@svc/kernel';
import { defaultName } from './fill-run.js';
import { maskDocuments } from './run-documents.js';
import { startedEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { countOfAttempt, findImported, insertRun, OPEN_STATUSES } from './run-store.js';

const MAX_RUNS_PER_ATTEMPT = 1_000;

export type RunBody = BodyOf<typeof routes.createRun>;

export interface CreatedRun {
  readonly run: Run;
  readonly ingest_token: string;
  /** Not when an import has made it before. */
  readonly isNew: boolean;
}

/**
 * Stores a run in the given transaction. With the token of an attempt it belongs to that attempt; with another token it belongs to the
 * present attempt of the job `job_id`, if that is given. A run of a job gets the job's project and experiment.
 */
export async function createRun(
  parts: RunParts,
  tx: Tx,
  caller: Caller,
  body: RunBody,
  at: number,
): Promise<CreatedRun> {
  const job = await jobOf(parts, tx, caller, body);
  if (job) await refuseTooMany(tx, job);
  const placement = job ?? (await parts.projects.resolve(tx, body, at));
  const id = newId('run', at);
  const run: Run = {
    id,
    name: body.name ?? job?.name ?? defaultName(id),
    project_id: placement.project_id,
    experiment_id: placement.experiment_id,
    job_id: job?.id ?? null,
    attempt: job?.attempt ?? null,
    source: body.source ?? 'sdk',
    status: 'RUNNING',
    step: null,
    epoch: null,
    max_steps: body.max_steps ?? null,
    config: {},
    environment: {},
    ...maskDocuments(body),
    tags: body.tags ?? [],
    notes: '',
    created_at: at,
    started_at: body.started_at ?? at,
    finished_at: null,
    stale_since: null,
  };
  await insertRun(tx, run, body.import_key);
  const ingest_token = await parts.auth.mintIngest(tx, { run_id: id }, at);
  await parts.events.append(tx, startedEvent(run), at);
  parts.changed(tx, { before: null, after: run });
  return { run, ingest_token, isNew: true };
}

/** The run that was imported with the key of the body, and a token for it; null when there is none. */
export async function findImportedRun(
  { auth }: RunParts,
  tx: Tx,
  { import_key }: RunBody,
  at: number,
): Promise<CreatedRun | null> {
  const run = import_key === undefined ? null : await findImported(tx, import_key);
  if (run === null) return null;
  const binding = { run_id: run.id };
  const ingest_token = await auth.mintIngest(tx, binding, at);
  if (!OPEN_STATUSES.includes(run.status)) await auth.endIngest(tx, binding, at);
  return { run, ingest_token, isNew: false };
}

/** Each run has a token, so the number of runs that a training can create is limited. */
async function refuseTooMany(trx: Db, { id, attempt }: Job): Promise<void> {
  if ((await countOfAttempt(trx, id, attempt)) < MAX_RUNS_PER_ATTEMPT) return;
  fail(
    'conflict',
    `attempt ${attempt} of ${id} has ${MAX_RUNS_PER_ATTEMPT} runs, the most that one may have: log to one of them`,
  );
}

async function jobOf(parts: RunParts, trx: Db, caller: Caller, { job_id }: RunBody): Promise<Job | null> {
  if (caller.ingest === null) return job_id === undefined ? null : lockOpenJob(parts, trx, job_id);
  if ('run_id' in caller.ingest)
    fail('forbidden', 'the token of a run cannot create runs; use the token of its job, or one of sdk scope');
  const { job_id: own, attempt } = caller.ingest;
  if (job_id !== undefined && toId('job', job_id) !== own)
    fail('forbidden', `the token is good for runs of ${own} alone; leave job_id out`);
  const job = await lockJob(parts, trx, own);
  if (job.attempt !== attempt || isTerminal(job.status))
    fail('conflict', `attempt ${attempt} of ${own} has ended`);
  return job;
}

/** A run that began after the end of its job would never end. */
async function lockOpenJob(parts: RunParts, trx: Db, jobId: string): Promise<Job> {
  const job = await lockJob(parts, trx, jobId);
  if (isTerminal(job.status))
    fail('conflict', `${job.id} has ended as ${job.status}: leave job_id out for a run without a job`);
  return job;
}

/** Locks the job, so that the attempt cannot end before the run is stored, which then would never end. */
async function lockJob({ jobs }: RunParts, trx: Db, jobId: string): Promise<Job> {
  return (await jobs.lock(trx, requireId('job', jobId))) ?? fail('not_found', `no job "${jobId}"`);
}
