/// <reference path="./knex-better-sqlite3.d.ts" />
import { failBoot } from '@svc/hooks';
import type { Database as SqliteConnection } from 'better-sqlite3';
import knex, { type Knex } from 'knex';
import { closeSync, openSync } from 'node:fs';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import pg from 'pg';
import { withoutSecrets } from '../url-secrets.js';
import type { DatabaseConfig } from './database-config.js';
import { isLocked, releaseWhileWaiting, retryWhileLocked } from './lock-retry.js';

/** A knex instance or a transaction. Repositories take it as a parameter. */
export type Db = Knex;

/** Without this, knex prints to the console what it also throws. */
const SILENT = { warn: () => undefined, error: () => undefined, deprecate: () => undefined };

/** Opens the database and checks that it answers. */
export async function openDatabase(config: Required<DatabaseConfig>): Promise<Db> {
  const where = config.client === 'sqlite' ? config.filename : withoutSecrets(config.url);
  const settings = config.client === 'sqlite' ? toSqlite(config.filename) : toPostgres(config.url);
  const db = knex({ ...settings, log: SILENT, compileSqlOnError: false });
  db.client.on('query-error', removeStatement);
  try {
    await db.raw('select 1');
    return db;
  } catch (error) {
    await db.destroy();
    const why = isLocked(error) ? LOCKED : (error as Error).message;
    return failBoot(`cannot open the database ${where}: ${why}`, 'database', error);
  }
}

const LOCKED = 'another process has it locked; end that one, or wait until it is done, and start again';

/**
 * Must hold: an error contains neither its statement nor a value, as errors are logged. knex puts the statement before the message, and
 * PostgreSQL quotes a value that it cannot read (class 22).
 */
function removeStatement(error: Error & { code?: string }, { sql }: { sql: string }): void {
  const said = error.message.replace(`${sql} - `, () => '');
  error.message = error.code?.startsWith('22') ? said.replace(/: ".*"$/s, '') : said;
  error.stack = error.stack?.replace(said, () => error.message) ?? '';
}

/** `auto_vacuum` takes effect only in a new database: its free pages can be returned while it is in use. */
const PRAGMAS = 'auto_vacuum=2 journal_mode=WAL synchronous=FULL foreign_keys=ON busy_timeout=0';

const MAX_CACHED_STATEMENTS = 500;
const statementCaches = new WeakMap<object, Map<string, unknown>>();

/** knex compiles every statement anew, which takes as long as running it. This client caches them for each connection. */
class SqliteClient extends BetterSqlite3Client {
  override async acquireRawConnection(): Promise<SqliteConnection> {
    const connection = await super.acquireRawConnection();
    releaseWhileWaiting(connection, this.pool!);
    return connection;
  }

  override _query(connection: SqliteConnection, query: { sql: string }): Promise<object> {
    const cache = statementCaches.get(connection) ?? new Map<string, unknown>();
    if (cache.size >= MAX_CACHED_STATEMENTS) cache.clear();
    statementCaches.set(connection, cache);
    const prepare = (sql: string) => cache.get(sql) ?? cache.set(sql, connection.prepare(sql)).get(sql);
    // The transaction takes its lock before its first read, so nothing that it reads can change while it waits.
    if (query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
    // After a full disk SQLite has rolled back already: a failing ROLLBACK must not hide that error.
    if (query.sql.startsWith('ROLLBACK') && !connection.inTransaction) query.sql = 'select 1';
    return retryWhileLocked(connection, () => super._query({ prepare }, query));
  }
}

function toSqlite(filename: string): Knex.Config {
  // SQLite gives its journal files the mode of the database.
  closeSync(openSync(filename, 'a', 0o600));
  const afterCreate = (connection: SqliteConnection, done: (error: null, connection: unknown) => void) => {
    for (const pragma of PRAGMAS.split(' ')) connection.pragma(pragma);
    done(null, connection);
  };
  const pool = { min: 1, max: 1, afterCreate };
  return { client: SqliteClient, connection: { filename }, useNullAsDefault: true, pool };
}

/** int8, numeric, json and jsonb: whole numbers come as numbers and JSON as text, as on SQLite. */
const PARSERS: Record<number, unknown> = { 20: Number, 1700: Number, 114: String, 3802: String };

function toPostgres(url: string): Knex.Config {
  const getTypeParser = (type: number, format?: 'text') =>
    PARSERS[type] ?? pg.types.getTypeParser(type, format);
  const connection = { connectionString: url, types: { getTypeParser } } as Knex.PgConnectionConfig;
  return { client: 'pg', connection, pool: { min: 0, max: 10 } };
}
