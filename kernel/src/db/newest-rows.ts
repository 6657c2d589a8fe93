import type { IdKind } from '@svc/contract';
import { LIST_BYTES, nextTurn, requireId } from '@svc/http';
import { fail } from '@svc/validation';
import type { Knex } from 'knex';
import type { Db } from './connect.js';
import { dialectOf } from './dialect.js';
import { selectFirstRows } from './select-rows.js';

/** The first page of rows; pages double while rows are small. It limits what is read in vain once the list is full. */
const PAGE_ROWS = 128;
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

export interface ListQuery extends Page {
  readonly from: string;
  readonly where?: (query: Knex.QueryBuilder) => void;
  /** No index finds what `where` asks for: every row may have to be read. */
  readonly isSearch?: boolean;
}

/** The newest rows of a table by (created_at, id), as many as fit in an answer. Throws not_found when `before` is unknown. */
export async function newestRows<Row extends Position>(db: Db, list: ListQuery): Promise<Listed<Row>> {
  const { from, limit, before, where = () => undefined, isSearch = false } = list;
  const items: Row[] = [];
  let sizeChars = 0;
  let sliceChars = 0;
  let pageRows = PAGE_ROWS;
  let after = before === undefined ? undefined : await positionOf(db, from, before);
  while (items.length < limit) {
    const wanted = Math.min(pageRows, limit - items.length);
    const query = db(from).orderBy(NEWEST_FIRST).limit(wanted).modify(where);
    if (after) query.modify(olderThan, after);
    const oldest = isSearch ? await endOfPart(db, from, after) : null;
    if (oldest !== null) query.where('created_at', '>=', oldest);
    const { rows, isCut } = await selectFirstRows<Row>(db, query, SLICE_CHARS);
    const columns = Object.keys(rows[0] ?? {}) as (keyof Row)[];
    for (const row of rows) {
      sizeChars += weigh(row, columns);
      if (sizeChars > LIST_BYTES && items.length > 0) return { items, truncated: true };
      items.push(row);
    }
    if (rows.length < wanted && !isCut) {
      if (oldest === null) break;
      after = { created_at: oldest, id: '' };
      await nextTurn();
      continue;
    }
    after = rows.at(-1);
    pageRows *= 2;
    if (sizeChars - sliceChars < SLICE_CHARS) continue;
    sliceChars = sizeChars;
    pageRows = PAGE_ROWS;
    await nextTurn();
  }
  return { items };
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

function weigh<Row>(row: Row, columns: readonly (keyof Row)[]): number {
  let chars = 0;
  for (const column of columns) {
    const value = row[column];
    if (typeof value === 'string') chars += value.length;
  }
  return chars;
}
