import type { Database as SqliteConnection } from 'better-sqlite3';
import type { Knex } from 'knex';
import type { Db } from './connect.js';
import { patiently } from './patience.js';

export type Dialect = 'sqlite' | 'postgres';

export const dialectOf = (db: Db): Dialect =>
  (db.client as { dialect: string }).dialect === 'postgresql' ? 'postgres' : 'sqlite';

/** The column value of a JSON value; both databases give it back as text. */
export const toJson = (value: unknown): string => JSON.stringify(value);
export const fromJson = <T>(column: unknown): T => JSON.parse(column as string) as T;

/**
 * Speaks to better-sqlite3 below knex, for hot paths: `use` runs at once and is synchronous. Waits its turn for the one
 * connection; given a transaction it runs inside it. Outside one `use` runs again when another process had the database locked.
 */
export async function withRawSqlite<T>(db: Db, use: (connection: SqliteConnection) => T): Promise<T> {
  const client = db.client as Knex.Client;
  const connection = (await client.acquireConnection()) as SqliteConnection;
  try {
    return await patiently(connection, () => use(connection));
  } finally {
    await client.releaseConnection(connection);
  }
}
