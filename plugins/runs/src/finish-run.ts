import type { BodyOf, Job, Run, RunStatus, routes } from '@svc/contract';
import { fail, type Db, type Tx } from '@svc/kernel';
import { finishedEvent, reportedEndEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { changeStatus, findRun, OPEN_STATUSES, raiseEnd } from './run-store.js';

export type RunEnd = BodyOf<typeof routes.finishRun>;

/**
 * Ends an open run in the given transaction. If the run has that status already, nothing happens; if it has ended with another one, it throws
 * conflict. A run of an abandoned attempt is not open any more.
 */
export async function finishRun(
  parts: RunParts,
  tx: Tx,
  id: string,
  { status, finished_at }: RunEnd,
  at: number,
): Promise<void> {
  const before = (await findRun(tx, id)) ?? fail('not_found', `no run "${id}"`);
  const job = await lockJob(parts, tx, before);
  if (job && job.attempt !== before.attempt) return refuseOtherStatus(await findRun(tx, id), status);
  const run = await changeStatus(tx, id, OPEN_STATUSES, { status, finished_at: finished_at ?? at });
  if (!run) {
    refuseOtherStatus(await findRun(tx, id), status);
    const later = finished_at === undefined ? null : await raiseEnd(tx, id, finished_at);
    if (later) parts.changed(tx, { before, after: later });
    return;
  }
  await parts.auth.endIngest(tx, { run_id: id }, at);
  await parts.events.append(tx, job ? reportedEndEvent(run, job) : finishedEvent(run), at);
  parts.changed(tx, { before, after: run });
}

/** So that no retry can abandon the attempt before the run is ended. null: the run has no job. */
async function lockJob({ jobs }: RunParts, trx: Db, { job_id }: Run): Promise<Job | null> {
  return job_id === null ? null : jobs.lock(trx, job_id);
}

/** Throws conflict unless the run has that status. */
function refuseOtherStatus(run: Run | null, status: RunStatus): void {
  if (run?.status === status) return;
  fail('conflict', `the run has ended as ${run?.status}; it cannot become ${status}`);
}
