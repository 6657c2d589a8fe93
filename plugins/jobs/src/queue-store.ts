import type { Db, QueuedJob } from '@svc/kernel';
import type { JobRow } from './job-row.js';
import type { QueueItem } from './plan-pass.js';

type Selector = Readonly<Record<string, string>>;

export interface QueuedRow extends QueueItem, QueuedJob {
  readonly node_selector: Selector;
  readonly pending_reason: string | null;
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
  'pending_reason',
] as const;

/** SQLite takes some thousands of bindings in one statement at least. */
const IDS_PER_STATEMENT = 500;

/** The queue, first to run first: higher priority, then older. */
export async function loadQueue(db: Db): Promise<QueuedRow[]> {
  const rows = await db<JobRow>('jobs')
    .select(...COLUMNS)
    .where({ status: 'QUEUED' })
    .orderBy([
      { column: 'priority', order: 'desc' },
      { column: 'created_at', order: 'asc' },
    ]);
  const selectors = new Map<string, Selector>();
  return rows.map((row) => Object.assign(row, { node_selector: toSelector(row.node_selector, selectors) }));
}

/** Stores the sentences that are other than those the queue was read with. */
export async function storeReasons(
  db: Db,
  queue: readonly QueuedRow[],
  reasons: ReadonlyMap<string, string>,
): Promise<void> {
  const idsByReason = new Map<string, string[]>();
  for (const { id, pending_reason } of queue) {
    const reason = reasons.get(id);
    if (reason === undefined || reason === pending_reason) continue;
    const ids = idsByReason.get(reason);
    if (ids) ids.push(id);
    else idsByReason.set(reason, [id]);
  }
  for (const [reason, ids] of idsByReason) await updateQueued(db, ids, { pending_reason: reason });
}

export async function storeHeads(db: Db, ids: readonly string[], at: number): Promise<void> {
  await updateQueued(db, ids, { head_since: at });
}

async function updateQueued(db: Db, ids: readonly string[], columns: Partial<JobRow>): Promise<void> {
  for (let start = 0; start < ids.length; start += IDS_PER_STATEMENT) {
    const chunk = ids.slice(start, start + IDS_PER_STATEMENT);
    await db<JobRow>('jobs').whereIn('id', chunk).where({ status: 'QUEUED' }).update(columns);
  }
}

/** Equal texts give one object: a pass tells kinds of jobs by it. */
function toSelector(text: string, known: Map<string, Selector>): Selector {
  const selector = known.get(text) ?? (JSON.parse(text) as Selector);
  known.set(text, selector);
  return selector;
}
