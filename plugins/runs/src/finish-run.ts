import type { Run, RunStatus } from '@svc/contract';
import { fail, type Db, type Tx } from '@svc/kernel';
import { finishedEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { findRun, moveRun, OPEN_STATUSES } from './run-store.js';

/**
 * Ends an open run in the given transaction; one that has that status already stays as it is, one that has another throws
 * conflict. A run of an attempt that was given up is not open any more.
 */
export async function finishRun(
  parts: RunParts,
  tx: Tx,
  id: string,
  status: RunStatus,
  at: number,
): Promise<void> {
  const before = (await findRun(tx, id)) ?? fail('not_found', `no run "${id}"`);
  if (await isLeftBehind(parts, tx, before)) return refuseOther(await findRun(tx, id), status);
  const run = await moveRun(tx, id, OPEN_STATUSES, { status, finished_at: at });
  if (!run) return refuseOther(await findRun(tx, id), status);
  await parts.auth.endIngest(tx, { run_id: id }, at);
  await parts.events.append(tx, finishedEvent(run), at);
  parts.changed(tx, { before, after: run });
}

/** The job is locked, so that no retry gives the attempt up between this look and the end of the run. */
async function isLeftBehind({ jobs }: RunParts, trx: Db, { job_id, attempt }: Run): Promise<boolean> {
  const job = job_id === null ? null : await jobs.lock(trx, job_id);
  return job !== null && job.attempt !== attempt;
}

/** The same status again is nothing new. */
function refuseOther(run: Run | null, status: RunStatus): void {
  if (run?.status === status) return;
  fail('conflict', `the run has ended as ${run?.status}; it cannot become ${status}`);
}
