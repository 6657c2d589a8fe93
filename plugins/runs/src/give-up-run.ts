import { isTerminal, type Job, type Run } from '@svc/contract';
import { fail, type Tx } from '@svc/kernel';
import { deletedEvent } from './run-events.js';
import type { RunParts } from './run-parts.js';
import { findWholeRun, lockRow, markDeleted } from './run-store.js';

/**
 * Gives up a run that is to be deleted. A run that its training or its job may still write to stays: only once the job has ended does
 * nothing create the run again under the same id.
 */
export async function giveUpRun(parts: RunParts, tx: Tx, id: string, at: number): Promise<Run> {
  const known = (await findWholeRun(tx, id)) ?? fail('not_found', `no run "${id}"`);
  // The job first, as everywhere.
  const job = known.job_id === null ? null : await parts.jobs.lock(tx, known.job_id);
  const row = (await lockRow(tx, id)) ?? fail('not_found', `no run "${id}"`);
  const run = { ...known, status: row.status };
  if (job) refuseOpenJob(run, job);
  refuseRunning(run);
  if (job) await parts.jobs.dropRun(tx, job.id, id);
  await parts.events.append(tx, deletedEvent(run), at);
  await markDeleted(tx, [id], at);
  return run;
}

function refuseOpenJob({ id }: Run, job: Job): void {
  if (isTerminal(job.status)) return;
  fail(
    'conflict',
    `run ${id} belongs to ${job.id}, which is ${job.status}: wait for the end of the job, or cancel it (svc cancel ${job.id})`,
    { status: job.status },
  );
}

function refuseRunning({ id, status }: Run): void {
  if (status !== 'RUNNING') return;
  fail(
    'conflict',
    `run ${id} is RUNNING: wait for its end; if no process ends it any more, end it (svc run finish ${id})`,
    { status },
  );
}
