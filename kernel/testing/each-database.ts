import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseConfig } from '../src/db/database-config.js';
import { openDatabase, type Db } from '../src/db/connect.js';
import { migrate, type MigrationSets } from '../src/db/migrate.js';
import { findPostgres, startPostgres, type PostgresCluster } from './postgres.js';

/** One kind of database for a suite. */
export interface TestDatabase {
  readonly client: 'sqlite' | 'postgres';
  /** A new, empty database. */
  create(): Promise<Required<DatabaseConfig>>;
  /** A new database with these migrations, by plugin; closed after the suite. */
  open(migrations?: MigrationSets): Promise<Db>;
}

let cluster: Promise<PostgresCluster> | null = null;

/** Stops the cluster of this process, if a suite has started it: for the root hook. */
export async function stopPostgres(): Promise<void> {
  await (await cluster)?.stop();
  cluster = null;
}

/**
 * Runs the suite on SQLite and on a real PostgreSQL. Without one it is skipped, saying so; on CI that is a failure.
 * `SVC_TEST_DATABASES=sqlite`: on SQLite alone.
 */
export function eachDatabase(suite: (database: TestDatabase) => void): void {
  describe('on sqlite', () => suite(sqlite()));
  if (process.env['SVC_TEST_DATABASES'] === 'sqlite') return;
  const bin = findPostgres();
  if (bin) describe('on postgres', () => suite(postgres(bin)));
  else if (process.env['CI'] === 'true')
    it('on postgres', () => Promise.reject(new Error('PostgreSQL is not installed')));
  else it.skip('on postgres: PostgreSQL is not installed');
}

function sqlite(): TestDatabase {
  const directories: string[] = [];
  after(() => directories.forEach((directory) => rmSync(directory, { recursive: true, force: true })));
  return withOpen('sqlite', () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-db-'));
    directories.push(directory);
    return Promise.resolve({ client: 'sqlite', filename: join(directory, 'svc.db') });
  });
}

function postgres(bin: string): TestDatabase {
  before(function () {
    this.timeout(60_000);
    cluster ??= startPostgres(bin);
    return cluster;
  });
  return withOpen('postgres', async () => ({
    client: 'postgres',
    url: await (await cluster!).createDatabase(),
  }));
}

function withOpen(client: TestDatabase['client'], create: TestDatabase['create']): TestDatabase {
  const opened: Db[] = [];
  after(() => Promise.all(opened.map((db) => db.destroy())));
  return {
    client,
    create,
    async open(migrations = {}) {
      const db = await openDatabase(await create());
      opened.push(db);
      await migrate(db, migrations);
      return db;
    },
  };
}
