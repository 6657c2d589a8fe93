import type { Database as SqliteConnection } from 'better-sqlite3';
import knex, { type Knex } from 'knex';
import { chmodSync, closeSync, openSync } from 'node:fs';
import pg from 'pg';
import type { DatabaseConfig } from '../config/config.js';
import { BootError } from '../errors.js';

/** A knex instance or a transaction. Repositories take it as a parameter. */
export type Db = Knex;

/** PostgreSQL type ids that knex's users should see as on SQLite: whole numbers as numbers, JSON as text. */
const INT8 = 20;
const NUMERIC = 1700;
const JSON_TYPES = [114, 3802];

/** Opens the database and proves that it answers. */
export async function openDatabase(config: Required<DatabaseConfig>): Promise<Db> {
  const db = config.client === 'sqlite' ? openSqlite(config.filename) : openPostgres(config.url);
  try {
    await db.raw('select 1');
    return db;
  } catch (cause) {
    await db.destroy();
    const where = config.client === 'sqlite' ? config.filename : withoutPassword(config.url);
    throw new BootError(`cannot open the database ${where}: ${(cause as Error).message}`, 'database', {
      cause,
    });
  }
}

function openSqlite(filename: string): Db {
  if (filename !== ':memory:') ensurePrivateFile(filename);
  return knex({
    client: 'better-sqlite3',
    connection: { filename },
    useNullAsDefault: true,
    pool: {
      min: 1,
      max: 1,
      afterCreate(
        connection: SqliteConnection,
        done: (error: Error | null, connection: SqliteConnection) => void,
      ) {
        connection.pragma('journal_mode = WAL');
        connection.pragma('synchronous = NORMAL');
        connection.pragma('foreign_keys = ON');
        connection.pragma('busy_timeout = 5000');
        done(null, connection);
      },
    },
  });
}

function openPostgres(url: string): Db {
  const getTypeParser = (type: number, format?: 'text' | 'binary') => {
    if (type === INT8 || type === NUMERIC) return Number;
    if (JSON_TYPES.includes(type)) return String;
    return pg.types.getTypeParser(type, format as 'text') as (value: string) => unknown;
  };
  const connection = { connectionString: url, types: { getTypeParser } };
  return knex({ client: 'pg', connection: connection as Knex.PgConnectionConfig, pool: { min: 0, max: 10 } });
}

/** SQLite gives its journal files the mode of the database. */
function ensurePrivateFile(filename: string): void {
  closeSync(openSync(filename, 'a', 0o600));
  chmodSync(filename, 0o600);
}

export function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/?#@]*):[^@]*@/, '$1:***@');
}
