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
export function withRawSqlite<T>(db: Db, use: (connection: SqliteConnection) => T): Promise<T> {
  return withConnection(db, (connection) => patiently(connection, () => use(connection)));
}

/**
 * As `withRawSqlite`, for reads that all see the database as it is at the first of them. They take no lock, so another process that
 * writes keeps nobody waiting. `db` is no transaction; `use` may take its time and writes nothing.
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
