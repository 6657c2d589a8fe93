import type { Database as SqliteConnection } from 'better-sqlite3';
import type { Knex } from 'knex';
import type { Db } from './connect.js';
import { retryWhileLocked } from './lock-retry.js';

export type Dialect = 'sqlite' | 'postgres';

export const dialectOf = (db: Db): Dialect =>
  (db.client as { dialect: string }).dialect === 'postgresql' ? 'postgres' : 'sqlite';

/** The column value of a JSON value; both databases give it back as text. */
export const toJson = (value: unknown): string => JSON.stringify(value);
export const fromJson = <T>(column: unknown): T => JSON.parse(column as string) as T;

/**
 * Gives direct access to better-sqlite3 for hot paths; `use` is synchronous. It waits for the only connection, or runs inside `db` if that is
 * a transaction. Outside a transaction `use` is retried while another process has locked the database.
 */
export function withRawSqlite<T>(db: Db, use: (connection: SqliteConnection) => T): Promise<T> {
  return withConnection(db, (connection) => retryWhileLocked(connection, () => use(connection)));
}

/**
 * As `withRawSqlite`, for several reads of one snapshot. They take no lock, so they do not wait for a writer in another process. `db` must
 * not be a transaction; `use` may be asynchronous and must not write.
 */
export function readRawSqlite<T>(db: Db, use: (connection: SqliteConnection) => Promise<T>): Promise<T> {
  return withConnection(db, async (connection) => {
    connection.exec('BEGIN DEFERRED');
    try {
      return await use(connection);
    } finally {
      if (connection.inTransaction) connection.exec('COMMIT');
    }
  });
}

async function withConnection<T>(db: Db, use: (connection: SqliteConnection) => Promise<T>): Promise<T> {
  const client = db.client as Knex.Client;
  const connection = (await client.acquireConnection()) as SqliteConnection;
  try {
    return await use(connection);
  } finally {
    await client.releaseConnection(connection);
  }
}
