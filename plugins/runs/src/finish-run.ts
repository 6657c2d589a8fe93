import type { Run, RunStatus } from '@svc/contract';
import { fail, type Db } from '@svc/kernel';
import { NOTHING, type Outcome } from './outcome.js';
import { finishedEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { findRun, moveRun, OPEN_STATUSES } from './run-store.js';

export interface FinishedRun extends Outcome {
  readonly run: Run;
}

/**
 * Ends an open run in the given transaction; one that has that status already stays as it is, one that has another throws
 * conflict. A run of an attempt that was given up is not open any more.
 */
export async function finishRun(
  parts: RunParts,
  trx: Db,
  id: string,
  status: RunStatus,
  at: number,
): Promise<FinishedRun> {
  const before = (await findRun(trx, id)) ?? fail('not_found', `no run "${id}"`);
  if (await isLeftBehind(parts, trx, before)) return repeat(await findRun(trx, id), status);
  const run = await moveRun(trx, id, OPEN_STATUSES, { status, finished_at: at });
  if (!run) return repeat(await findRun(trx, id), status);
  await parts.auth.endIngest(trx, { run_id: id }, at);
  const event = await parts.events.append(trx, finishedEvent(run), at);
  return { run, changes: [{ before, after: run }], events: [event] };
}

/** The job is locked, so that no retry gives the attempt up between this look and the end of the run. */
async function isLeftBehind({ jobs }: RunParts, trx: Db, { job_id, attempt }: Run): Promise<boolean> {
  const job = job_id === null ? null : await jobs.lock(trx, job_id);
  return job !== null && job.attempt !== attempt;
}

function repeat(run: Run | null, status: RunStatus): FinishedRun {
  if (run?.status === status) return { run, ...NOTHING };
  return fail('conflict', `the run has ended as ${run?.status}; it cannot become ${status}`);
}
