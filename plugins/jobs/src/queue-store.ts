import type { Job } from '@svc/contract';
import { selectRows, type Db } from '@svc/kernel';
import type { QueuedJob } from './hooks.js';
import type { JobRow } from './job-row.js';
import type { QueueItem } from './queue-item.js';

export interface QueuedRow extends QueueItem, QueuedJob {
  readonly node_selector: QueueItem['node_selector'];
  pending_reason: string | null;
  head_since: number | null;
}

const COLUMNS = [
  'id',
  'attempt',
  'gpu',
  'runner',
  'node_selector',
  'priority',
  'project_id',
  'experiment_id',
  'created_at',
  'queued_at',
  'not_before',
  'head_since',
  'preferred_node_id',
  'pending_reason',
] as const satisfies readonly (keyof JobRow)[];

/** SQLite takes some thousands of bindings in one statement at least. */
export const IDS_PER_STATEMENT = 500;

/** The queue, or those of `ids` that are in it (at most `IDS_PER_STATEMENT`), first to run first. */
export async function loadQueue(db: Db, ids?: readonly string[]): Promise<readonly QueuedRow[]> {
  const query = db<JobRow>('jobs')
    .select(...COLUMNS)
    .where({ status: 'QUEUED' });
  if (ids) query.whereIn('id', [...ids]);
  const rows = await selectRows<Pick<JobRow, (typeof COLUMNS)[number]>>(db, query);
  return rows
    .map((row): QueuedRow => ({
      ...row,
      node_selector: JSON.parse(row.node_selector) as Job['node_selector'],
    }))
    .sort(firstToRun);
}

/** Higher priority first, then older. */
export function firstToRun(a: QueuedRow, b: QueuedRow): number {
  return b.priority - a.priority || a.created_at - b.created_at;
}

export async function storeReasons(db: Db, reasons: ReadonlyMap<string, string>): Promise<void> {
  for (const chunk of chunks([...reasons])) {
    const values = chunk.map(() => '(?, ?)').join(', ');
    await db.raw(
      `with changed(id, reason) as (values ${values})
       update jobs set pending_reason = changed.reason from changed where jobs.id = changed.id and jobs.status = 'QUEUED'`,
      chunk.flat(),
    );
  }
}

export async function storeHeads(db: Db, ids: readonly string[], at: number): Promise<void> {
  for (const chunk of chunks(ids))
    await db<JobRow>('jobs').whereIn('id', chunk).where({ status: 'QUEUED' }).update({ head_since: at });
}

function chunks<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / IDS_PER_STATEMENT);
  return Array.from({ length: count }, (_, index) =>
    items.slice(index * IDS_PER_STATEMENT, (index + 1) * IDS_PER_STATEMENT),
  );
}
