/// <reference path="./knex-better-sqlite3.d.ts" />
import { failBoot } from '@svc/hooks';
import type { Database as SqliteConnection } from 'better-sqlite3';
import knex, { type Knex } from 'knex';
import { closeSync, openSync } from 'node:fs';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import pg from 'pg';
import type { DatabaseConfig } from './database-config.js';
import { isLocked, lendWhileWaiting, patiently } from './patience.js';

/** A knex instance or a transaction. Repositories take it as a parameter. */
export type Db = Knex;

/** knex would print to the console what it also throws. */
const SILENT = { warn: () => undefined, error: () => undefined, deprecate: () => undefined };

/** Opens the database and proves that it answers. */
export async function openDatabase(config: Required<DatabaseConfig>): Promise<Db> {
  const where = config.client === 'sqlite' ? config.filename : withoutPassword(config.url);
  const settings = config.client === 'sqlite' ? toSqlite(config.filename) : toPostgres(config.url);
  const db = knex({ ...settings, log: SILENT, compileSqlOnError: false });
  db.client.on('query-error', forgetStatement);
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
 * Must hold: an error names neither its statement nor a value of it, for what is thrown is logged. knex puts the statement before the
 * message, and PostgreSQL quotes a value that it cannot read (class 22).
 */
function forgetStatement(error: Error & { code?: string }, { sql }: { sql: string }): void {
  const said = error.message.replace(`${sql} - `, () => '');
  error.message = error.code?.startsWith('22') ? said.replace(/: ".*"$/s, '') : said;
  error.stack = error.stack?.replace(said, () => error.message) ?? '';
}

/** Incremental vacuum counts for a new database alone: its free pages can be given back while it is in use. */
const PRAGMAS = 'auto_vacuum=2 journal_mode=WAL synchronous=FULL foreign_keys=ON busy_timeout=0';

const STATEMENTS_KEPT = 500;
const keptBy = new WeakMap<object, Map<string, unknown>>();

/** knex has every statement compiled anew, which takes as long as to run it. Here they are cached for each connection, for statements that go through knex. */
class SqliteClient extends BetterSqlite3Client {
  override async acquireRawConnection(): Promise<SqliteConnection> {
    const connection = await super.acquireRawConnection();
    lendWhileWaiting(connection, this.pool!);
    return connection;
  }

  override _query(connection: SqliteConnection, query: { sql: string }): Promise<object> {
    const kept = keptBy.get(connection) ?? new Map<string, unknown>();
    if (kept.size >= STATEMENTS_KEPT) kept.clear();
    keptBy.set(connection, kept);
    const prepare = (sql: string) => kept.get(sql) ?? kept.set(sql, connection.prepare(sql)).get(sql);
    // The lock is waited for before anything was read that may have changed once it is there.
    if (query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
    // A full disk has undone it already: that there is nothing to undo must not hide why.
    if (query.sql.startsWith('ROLLBACK') && !connection.inTransaction) query.sql = 'select 1';
    return patiently(connection, () => super._query({ prepare }, query));
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

const SECRET_PARAMETER = /pass|token|secret|key/i;

/** An address as it may be shown; other text as it is. What cannot be taken apart is hidden as a whole. */
export function withoutPassword(text: string): string {
  const scheme = /^\w[\w+.-]*:\/\//.exec(text)?.[0];
  if (scheme === undefined) return text;
  const url = URL.canParse(text) ? new URL(text) : null;
  // Behind the host an @ belongs to a password that was not encoded: its "/" has been taken for the end of the host.
  if (url === null || (url.pathname + url.search + url.hash).includes('@')) return `${scheme}***`;
  const secrets = [...url.searchParams.keys()].filter((name) => SECRET_PARAMETER.test(name));
  if (url.password === '' && secrets.length === 0) return text;
  if (url.password !== '') url.password = '***';
  for (const name of secrets) url.searchParams.set(name, '***');
  return url.href;
}
