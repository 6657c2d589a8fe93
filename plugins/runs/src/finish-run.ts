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
 * conflict. The jobs plugin tells of the end of a job's own run, when the attempt ends.
 */
export async function finishRun(
  { auth, events }: RunParts,
  trx: Db,
  id: string,
  status: RunStatus,
  at: number,
): Promise<FinishedRun> {
  const before = (await findRun(trx, id)) ?? fail('not_found', `no run "${id}"`);
  const run = await moveRun(trx, id, OPEN_STATUSES, { status, finished_at: at });
  if (!run) return repeat(await findRun(trx, id), status);
  await auth.endIngest(trx, { run_id: id }, at);
  const told = run.source === 'job' ? [] : [await events.append(trx, finishedEvent(run), at)];
  return { run, changes: [{ before, after: run }], events: told };
}

function repeat(run: Run | null, status: RunStatus): FinishedRun {
  if (run?.status === status) return { run, ...NOTHING };
  return fail('conflict', `the run has ended as ${run?.status}; it cannot become ${status}`);
}
