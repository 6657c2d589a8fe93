import type { Db } from '@svc/kernel';
import type { QueuedJob } from './hooks.js';
import type { JobRow } from './job-row.js';
import type { QueueItem } from './queue-item.js';
import { selectRows } from './select-rows.js';

type Selector = Readonly<Record<string, string>>;

export interface QueuedRow extends QueueItem, QueuedJob {
  readonly node_selector: Selector;
  pending_reason: string | null;
  head_since: number | null;
}

/** Equal texts give one object: a pass tells kinds of jobs by it. */
export type Selectors = Map<string, Selector>;

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
  'pending_reason',
] as const satisfies readonly (keyof JobRow)[];

/** SQLite takes some thousands of bindings in one statement at least. */
export const IDS_PER_STATEMENT = 500;

/** The queue, or those of `ids` that are in it (at most `IDS_PER_STATEMENT`), first to run first. */
export async function loadQueue(
  db: Db,
  selectors: Selectors,
  ids?: readonly string[],
): Promise<readonly QueuedRow[]> {
  const query = db<JobRow>('jobs')
    .select(...COLUMNS)
    .where({ status: 'QUEUED' });
  if (ids) query.whereIn('id', [...ids]);
  const rows: { node_selector: string | Selector }[] = await selectRows(db, query);
  // In place: the queue is long, and read often.
  for (const row of rows) row.node_selector = parseSelector(row.node_selector as string, selectors);
  return (rows as QueuedRow[]).sort(firstToRun);
}

/** Higher priority first, then older. */
export function firstToRun(a: QueuedRow, b: QueuedRow): number {
  return b.priority - a.priority || a.created_at - b.created_at;
}

export async function storeReasons(db: Db, reasons: ReadonlyMap<string, string>): Promise<void> {
  for (const chunk of chunks([...reasons])) {
    const values = chunk.map(() => '(?, ?)').join(', ');
    await db.raw(
      `with told(id, reason) as (values ${values})
       update jobs set pending_reason = told.reason from told where jobs.id = told.id and jobs.status = 'QUEUED'`,
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

function parseSelector(text: string, known: Selectors): Selector {
  const selector = known.get(text) ?? (JSON.parse(text) as Selector);
  known.set(text, selector);
  return selector;
}
