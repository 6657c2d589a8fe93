import type { AttemptKey } from '@svc/contract';
import type { Db } from '@svc/kernel';

/** An attempt and the node that it is dispatched to. */
export interface Destination extends AttemptKey {
  readonly node_id: string;
}

type AssignedRow = Destination & { readonly run_id: string };

/**
 * The run that the process of this attempt reports to on this node; `newRunId` is assigned when there is none yet. An attempt that is
 * dispatched twice to one node has one process there, and so one run. On two nodes it may have two processes, whose points must not mix.
 */
export async function assignRun(db: Db, to: Destination, newRunId: string): Promise<string> {
  const row: AssignedRow = { run_id: newRunId, ...to };
  await db<AssignedRow>('assigned_runs').insert(row).onConflict(['job_id', 'attempt', 'node_id']).ignore();
  return (await findAssigned(db, to))?.run_id ?? newRunId;
}

/** The assignment with these columns. */
export async function findAssigned(db: Db, known: Partial<AssignedRow>): Promise<AssignedRow | undefined> {
  return db<AssignedRow>('assigned_runs').where(known).first();
}

export async function unassign(db: Db, runIds: readonly string[]): Promise<void> {
  await db<AssignedRow>('assigned_runs').whereIn('run_id', runIds).delete();
}
