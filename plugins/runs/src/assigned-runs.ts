import type { AttemptKey } from '@svc/contract';
import type { Db } from '@svc/kernel';

/** An attempt and the node that it is dispatched to. */
export interface Destination extends AttemptKey {
  readonly node_id: string;
}

type AssignedRow = Destination & { run_id: string };

/**
 * The run that the process of this attempt reports to on this node; `newRunId` is assigned when there is none yet. An attempt that is
 * dispatched twice to one node has one process there, and so one run. On two nodes it may have two processes, whose points must not mix.
 */
export async function assignRun(
  db: Db,
  { job_id, attempt, node_id }: Destination,
  newRunId: string,
): Promise<string> {
  const row: AssignedRow = { run_id: newRunId, job_id, attempt, node_id };
  await db<AssignedRow>('assigned_runs').insert(row).onConflict(['job_id', 'attempt', 'node_id']).ignore();
  return (await findAssigned(db, row)) ?? newRunId;
}

export async function findAssigned(
  db: Db,
  { job_id, attempt, node_id }: Destination,
): Promise<string | null> {
  const row = await db<AssignedRow>('assigned_runs').where({ job_id, attempt, node_id }).first('run_id');
  return row?.run_id ?? null;
}

/** The node of the attempt that the run was assigned to. */
export async function findNode(db: Db, runId: string): Promise<string | null> {
  const row = await db<AssignedRow>('assigned_runs').where({ run_id: runId }).first('node_id');
  return row?.node_id ?? null;
}

export async function isAssigned(db: Db, { job_id, attempt }: AttemptKey, runId: string): Promise<boolean> {
  return (
    (await db<AssignedRow>('assigned_runs').where({ run_id: runId, job_id, attempt }).first('run_id')) !==
    undefined
  );
}
