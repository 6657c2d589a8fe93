import type { IdKind } from '@svc/contract';
import { LIST_BYTES, nextTurn, requireId } from '@svc/http';
import { fail } from '@svc/validation';
import type { Knex } from 'knex';
import type { Db } from './connect.js';

/** Rows are read so many at a time, and twice as many each time while they are small: what is read in vain once the list is full. */
const PAGE_ROWS = 128;
/** After so much, others get at the database. */
const TURN_CHARS = 256 * 1024;

/** A list of which the rest is left out when `truncated` is there: it goes on behind the last item. */
export interface Listed<T> {
  readonly items: T[];
  readonly truncated?: true;
}

interface Place {
  readonly id: string;
  readonly created_at: number;
}

/** Which part of a list: at most so many items. */
export interface Page {
  readonly limit: number;
  /** The id of an item, in canonical form: the list goes on behind it. */
  readonly before?: string | undefined;
}

type Asked = { readonly limit?: number | undefined; readonly before?: string | undefined };

/** The page that a query asks for. Throws not_found for a malformed `before`. */
export function toPage(kind: IdKind, { limit = 100, before }: Asked): Page {
  return { limit, ...(before !== undefined && { before: requireId(kind, before) }) };
}

export interface ListQuery<Row> extends Page {
  readonly from: string;
  readonly where?: (query: Knex.QueryBuilder) => void;
  /** How a query that may give many rows is read, where that matters. */
  readonly read?: (query: Knex.QueryBuilder) => PromiseLike<Row[]>;
}

/** The newest rows of a table by (created_at, id), as far as an answer can show them: no more is read. Throws not_found when `before` is unknown. */
export async function newestRows<Row extends Place>(db: Db, list: ListQuery<Row>): Promise<Listed<Row>> {
  const {
    from,
    limit,
    before,
    where = () => undefined,
    read = (query) => query as PromiseLike<Row[]>,
  } = list;
  const items: Row[] = [];
  let sizeChars = 0;
  let turnChars = 0;
  let pageRows = PAGE_ROWS;
  let behind = before === undefined ? undefined : await placeOf(db, from, before);
  while (items.length < limit) {
    const wanted = Math.min(pageRows, limit - items.length);
    const query = db(from).orderBy(NEWEST_FIRST).limit(wanted).modify(where);
    if (behind) query.modify(olderThan, behind);
    const rows = await read(query);
    const columns = Object.keys(rows[0] ?? {}) as (keyof Row)[];
    for (const row of rows) {
      sizeChars += weigh(row, columns);
      if (sizeChars > LIST_BYTES && items.length > 0) return { items, truncated: true };
      items.push(row);
    }
    if (rows.length < wanted) break;
    behind = rows.at(-1);
    pageRows *= 2;
    if (sizeChars - turnChars < TURN_CHARS) continue;
    turnChars = sizeChars;
    pageRows = PAGE_ROWS;
    await nextTurn();
  }
  return { items };
}

const NEWEST_FIRST: { column: string; order: 'desc' }[] = [
  { column: 'created_at', order: 'desc' },
  { column: 'id', order: 'desc' },
];

/** The first condition is what an index is good for. */
function olderThan(query: Knex.QueryBuilder, { created_at, id }: Place): void {
  query
    .where('created_at', '<=', created_at)
    .where((either) => void either.where('created_at', '<', created_at).orWhere('id', '<', id));
}

async function placeOf(db: Db, from: string, id: string): Promise<Place> {
  const place = await db<Place>(from).where({ id }).first('id', 'created_at');
  return (place as Place | undefined) ?? fail('not_found', `before: there is no "${id}"`);
}

function weigh<Row>(row: Row, columns: readonly (keyof Row)[]): number {
  let chars = 0;
  for (const column of columns) {
    const value = row[column];
    if (typeof value === 'string') chars += value.length;
  }
  return chars;
}
