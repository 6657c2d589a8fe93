import type { IdKind } from '@svc/contract';
import { LIST_BYTES, nextTurn, requireId } from '@svc/http';
import { fail } from '@svc/validation';
import type { Knex } from 'knex';
import type { Db } from './connect.js';
import { dialectOf } from './dialect.js';
import { selectFirstRows } from './select-rows.js';

/** The first page of rows; pages double while rows are small. It limits what is read in vain once the list is full. */
const PAGE_ROWS = 128;
const MOST_PAGE_ROWS = 1024;
/** Of a search on SQLite, which reads in this thread: after so many rows, about 10 ms, other requests get their turn. */
const SEARCHED_ROWS = 5_000;
/** After this much text other requests can use the database. */
const SLICE_CHARS = 256 * 1024;

/** A list. With `truncated` there are more items after the last one. */
export interface Listed<T> {
  readonly items: T[];
  readonly truncated?: true;
}

interface Position {
  readonly id: string;
  readonly created_at: number;
}

/** Which part of a list is wanted. */
export interface Page {
  readonly limit: number;
  /** The id of an item, in canonical form: the page begins after it. */
  readonly before?: string | undefined;
}

type PageQuery = { readonly limit?: number | undefined; readonly before?: string | undefined };

/** The page that a query asks for. Throws not_found for a malformed `before`. */
export function toPage(kind: IdKind, { limit = 100, before }: PageQuery): Page {
  return { limit, ...(before !== undefined && { before: requireId(kind, before) }) };
}

/** Rows of a table that has `id` and `created_at`. */
export interface RowsQuery {
  readonly from: string;
  readonly where?: (query: Knex.QueryBuilder) => void;
  /** Left out: all. With `id` and `created_at` among them. */
  readonly columns?: readonly string[];
  /** No index finds what `where` asks for: every row may have to be read. */
  readonly isSearch?: boolean;
}

export type ListQuery = RowsQuery & Page;

/** The newest rows of a table by (created_at, id), as many as fit in an answer. Throws not_found when `before` is unknown. */
export async function newestRows<Row extends Position>(db: Db, list: ListQuery): Promise<Listed<Row>> {
  const items: Row[] = [];
  let sizeChars = 0;
  for await (const rows of pagesOfRows<Row>(db, list)) {
    const columns = columnsOf(rows);
    for (const row of rows) {
      sizeChars += weigh(row, columns);
      if (sizeChars > LIST_BYTES && items.length > 0) return { items, truncated: true };
      items.push(row);
    }
  }
  return { items };
}

/** As `newestRows`, in pages, up to `limit`: left out, all rows. Between them other requests can use the database. */
export async function* pagesOfRows<Row extends Position>(
  db: Db,
  { from, where = () => undefined, columns = ['*'], isSearch = false, ...page }: RowsQuery & Partial<Page>,
): AsyncGenerator<Row[]> {
  const { limit = Infinity, before } = page;
  let left = limit;
  let sliceChars = 0;
  let pageRows = PAGE_ROWS;
  let after = before === undefined ? undefined : await positionOf(db, from, before);
  while (left > 0) {
    const wanted = Math.min(pageRows, left);
    const query = db(from).select(columns).orderBy(NEWEST_FIRST).limit(wanted).modify(where);
    if (after) query.modify(olderThan, after);
    const oldest = isSearch ? await endOfPart(db, from, after) : null;
    if (oldest !== null) query.where('created_at', '>=', oldest);
    const { rows, isCut } = await selectFirstRows<Row>(db, query, SLICE_CHARS);
    yield rows;
    left -= rows.length;
    if (rows.length < wanted && !isCut) {
      if (oldest === null) return;
      after = { created_at: oldest, id: '' };
      await nextTurn();
      continue;
    }
    after = rows.at(-1);
    pageRows = Math.min(pageRows * 2, MOST_PAGE_ROWS);
    sliceChars += weighAll(rows);
    if (sliceChars < SLICE_CHARS) continue;
    sliceChars = 0;
    pageRows = PAGE_ROWS;
    await nextTurn();
  }
}

/** How many rows fit. SQLite counts in this thread, and so by parts. */
export async function countRows(db: Db, { from, where = () => undefined }: RowsQuery): Promise<number> {
  let total = 0;
  let after: Position | undefined;
  for (;;) {
    const oldest = await endOfPart(db, from, after);
    const query = db(from).count({ count: '*' }).modify(where);
    if (after) query.modify(olderThan, after);
    if (oldest !== null) query.where('created_at', '>=', oldest);
    const row = (await query.first()) as { count: number | string };
    total += Number(row.count);
    if (oldest === null) return total;
    after = { created_at: oldest, id: '' };
    await nextTurn();
  }
}

const NEWEST_FIRST: { column: string; order: 'desc' }[] = [
  { column: 'created_at', order: 'desc' },
  { column: 'id', order: 'desc' },
];

/** The first condition is redundant, but lets the database use an index. */
function olderThan(query: Knex.QueryBuilder, { created_at, id }: Position): void {
  query
    .where('created_at', '<=', created_at)
    .where((either) => void either.where('created_at', '<', created_at).orWhere('id', '<', id));
}

async function positionOf(db: Db, from: string, id: string): Promise<Position> {
  const position = await db<Position>(from).where({ id }).first('id', 'created_at');
  return (position as Position | undefined) ?? fail('not_found', `before: there is no "${id}"`);
}

/** The `created_at` with which the next part of a search ends; null: the rest is one part. */
async function endOfPart(db: Db, from: string, after: Position | undefined): Promise<number | null> {
  if (dialectOf(db) !== 'sqlite') return null;
  const query = db<Position>(from).orderBy(NEWEST_FIRST).offset(SEARCHED_ROWS);
  if (after) query.modify(olderThan, after);
  const last = (await query.first('created_at')) as Pick<Position, 'created_at'> | undefined;
  return last?.created_at ?? null;
}

function weighAll<Row extends object>(rows: readonly Row[]): number {
  const columns = columnsOf(rows);
  return rows.reduce((chars, row) => chars + weigh(row, columns), 0);
}

function columnsOf<Row extends object>([first]: readonly Row[]): (keyof Row)[] {
  return Object.keys(first ?? {}) as (keyof Row)[];
}

function weigh<Row>(row: Row, columns: readonly (keyof Row)[]): number {
  let chars = 0;
  for (const column of columns) {
    const value = row[column];
    if (typeof value === 'string') chars += value.length;
  }
  return chars;
}
