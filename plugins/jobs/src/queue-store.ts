import { dialectOf, withRawSqlite, type Db, type QueuedJob } from '@svc/kernel';
import type { JobRow } from './job-row.js';
import type { QueueItem } from './plan-pass.js';

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
  const toSelector = (text: string) => parseSelector(text, selectors);
  const queue: QueuedRow[] =
    dialectOf(db) === 'sqlite'
      ? (await selectValues(db, query.toSQL().toNative())).map((values) => toQueued(values, toSelector))
      : (await query).map((row) => ({ ...row, node_selector: toSelector(row.node_selector) }));
  return queue.sort(firstToRun);
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

type ValueOf<Name> = Name extends keyof JobRow ? JobRow[Name] : never;
/** As `COLUMNS`. */
type Values = { readonly [I in keyof typeof COLUMNS]: ValueOf<(typeof COLUMNS)[I]> };

/** Below knex, as lists of values: to have an object made of each row takes longer than to read it. */
async function selectValues(
  db: Db,
  { sql, bindings }: { sql: string; bindings: readonly unknown[] },
): Promise<Values[]> {
  return withRawSqlite(db, (sqlite) => {
    const statement = sqlite.prepare<unknown[], Values>(sql).raw();
    return statement.all(...bindings) as unknown[] as Values[];
  });
}

/** Written out, not in a loop: a long queue is read often. */
function toQueued(values: Values, toSelector: (text: string) => Selector): QueuedRow {
  return {
    id: values[0],
    attempt: values[1],
    gpu: values[2],
    runner: values[3],
    node_selector: toSelector(values[4]),
    priority: values[5],
    project_id: values[6],
    experiment_id: values[7],
    created_at: values[8],
    queued_at: values[9],
    not_before: values[10],
    head_since: values[11],
    pending_reason: values[12],
  };
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
