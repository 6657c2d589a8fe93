import type { Run, RunStatus } from '@svc/contract';
import { fail, type Db, type Tx } from '@svc/kernel';
import { finishedEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { findRun, changeStatus, OPEN_STATUSES } from './run-store.js';

/**
 * Ends an open run in the given transaction. If the run has that status already, nothing happens; if it has ended with another one, it throws
 * conflict. A run of an abandoned attempt is not open any more.
 */
export async function finishRun(
  parts: RunParts,
  tx: Tx,
  id: string,
  status: RunStatus,
  at: number,
): Promise<void> {
  const before = (await findRun(tx, id)) ?? fail('not_found', `no run "${id}"`);
  if (await isAbandoned(parts, tx, before)) return refuseOtherStatus(await findRun(tx, id), status);
  const run = await changeStatus(tx, id, OPEN_STATUSES, { status, finished_at: at });
  if (!run) return refuseOtherStatus(await findRun(tx, id), status);
  await parts.auth.endIngest(tx, { run_id: id }, at);
  await parts.events.append(tx, finishedEvent(run), at);
  parts.changed(tx, { before, after: run });
}

/** Locks the job, so that no retry can abandon the attempt before the run is ended. */
async function isAbandoned({ jobs }: RunParts, trx: Db, { job_id, attempt }: Run): Promise<boolean> {
  const job = job_id === null ? null : await jobs.lock(trx, job_id);
  return job !== null && job.attempt !== attempt;
}

/** Throws conflict unless the run has that status. */
function refuseOtherStatus(run: Run | null, status: RunStatus): void {
  if (run?.status === status) return;
  fail('conflict', `the run has ended as ${run?.status}; it cannot become ${status}`);
}
