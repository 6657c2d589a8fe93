import { yieldIfSliceOver } from '@svc/http';
import type { Knex } from 'knex';
import type { Db } from './connect.js';
import { selectRows } from './select-rows.js';

/** In one statement, after which other requests can use the database. */
const OWNERS_PER_READ = 50;
/** The first read is small, as the database may have to read a lot for each row; the others are as large as their time allows. */
const FIRST_ROWS = 16;
const ROWS_PER_READ = 1000;
const READ_MS = 10;

interface OwnedRow {
  readonly id: string;
  readonly created_at: number;
}

export interface OwnersQuery<Row> {
  /** The column with the id of the owner. */
  readonly owner: string & keyof Row;
  /** In canonical form; each once. */
  readonly ids: readonly string[];
  /** A new query each time, which selects `id`, `created_at` and the owner, without order and limit. */
  readonly query: () => Knex.QueryBuilder;
}

/** All rows that belong to these owners, by owner, and the oldest first. They may be many: other requests run between the pages. */
export async function* rowsOfOwners<Row extends OwnedRow>(
  db: Db,
  { owner, ids, query }: OwnersQuery<Row>,
): AsyncGenerator<Row[], void> {
  let left = [...ids].sort();
  let after: Row | null = null;
  let limit = FIRST_ROWS;
  while (left.length > 0) {
    const some: readonly string[] = left.slice(0, after === null ? OWNERS_PER_READ : 1);
    const page = query().whereIn(owner, some).orderBy([owner, 'created_at', 'id']).limit(limit);
    if (after) page.modify(youngerThan, after);
    const startedMs = performance.now();
    const rows: Row[] = await selectRows<Row>(db, page);
    const isQuick = performance.now() - startedMs < READ_MS;
    yield rows;
    const last: Row | null = rows.length < limit ? null : rows.at(-1)!;
    limit = isQuick ? Math.min(ROWS_PER_READ, 2 * limit) : Math.max(1, Math.floor(limit / 2));
    left = left.slice(last ? left.indexOf(last[owner] as string) : some.length);
    after = last;
    await yieldIfSliceOver();
  }
}

/** The first condition is redundant, but lets the database use an index. */
function youngerThan(query: Knex.QueryBuilder, { created_at, id }: OwnedRow): void {
  query
    .where('created_at', '>=', created_at)
    .where((either) => void either.where('created_at', '>', created_at).orWhere('id', '>', id));
}
