import type { Database as SqliteConnection } from 'better-sqlite3';
import type { Db } from './connect.js';
import { dialectOf, withRawSqlite } from './dialect.js';

/** Of one connection, so that searches for ever other words cannot fill the memory. */
const MOST_READERS = 100;

type Query<Row> = PromiseLike<Row[]> & {
  toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } };
};

/**
 * The rows of a query that may return many, in its order. On SQLite it bypasses knex and reads each row as one JSON text, as the driver takes
 * longer to convert each column than to read it. Columns and bindings must be text or numbers.
 */
export async function selectRows<Row extends object>(db: Db, query: Query<Row>): Promise<Row[]> {
  return (await selectFirstRows(db, query, Infinity)).rows;
}

/** As `selectRows`, until the rows have more characters than `maxChars`; `isCut` then. PostgreSQL returns all. */
export async function selectFirstRows<Row extends object>(
  db: Db,
  query: Query<Row>,
  maxChars: number,
): Promise<FirstRows<Row>> {
  if (dialectOf(db) !== 'sqlite') return { rows: await query, isCut: false };
  const { sql, bindings } = query.toSQL().toNative();
  return withRawSqlite(db, (sqlite) => readerOf(sqlite, sql)(bindings, maxChars) as FirstRows<Row>);
}

interface FirstRows<Row> {
  readonly rows: Row[];
  readonly isCut: boolean;
}

type Reader = (bindings: readonly unknown[], maxChars: number) => FirstRows<object>;

/** Compiled once for each connection: the queries of lists differ only in their filters. */
const readers = new WeakMap<SqliteConnection, Map<string, Reader>>();

function readerOf(sqlite: SqliteConnection, sql: string): Reader {
  const known = readers.get(sqlite) ?? new Map<string, Reader>();
  readers.set(sqlite, known);
  const reader = known.get(sql) ?? compileReader(sqlite, sql);
  known.delete(sql);
  known.set(sql, reader);
  if (known.size > MOST_READERS) known.delete(known.keys().next().value!);
  return reader;
}

function compileReader(sqlite: SqliteConnection, sql: string): Reader {
  const columns = sqlite.prepare(sql).columns();
  const names = columns.map(({ name }) => name);
  const row = names.map((name) => `"${name}"`).join();
  const statement = sqlite.prepare(`select json_array(${row}) from (${sql})`).pluck();
  // JSON.parse makes an object whose fields stay quick to read, a loop of assignments does not.
  const empty = JSON.parse(`{${names.map((name) => `"${name}":null`).join()}}`) as object;
  return (bindings, maxChars) => {
    const { texts, isCut } = readTexts(statement.iterate(...bindings) as Iterable<string>, maxChars);
    const rows = JSON.parse(`[${texts.join()}]`) as unknown[][];
    return { rows: rows.map((values) => fill({ ...empty }, names, values)), isCut };
  };
}

function readTexts(rows: Iterable<string>, maxChars: number): { texts: string[]; isCut: boolean } {
  const texts: string[] = [];
  let chars = 0;
  for (const text of rows) {
    texts.push(text);
    chars += text.length;
    if (chars > maxChars) return { texts, isCut: true };
  }
  return { texts, isCut: false };
}

function fill(row: Record<string, unknown>, names: readonly string[], values: readonly unknown[]): object {
  for (let index = 0; index < names.length; index++) row[names[index]!] = values[index];
  return row;
}
