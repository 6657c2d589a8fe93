import { failBoot } from '@svc/hooks';
import type { Db } from './connect.js';
import { dialectOf } from './dialect.js';

/** Forward only, in a transaction of its own. `name` is `0001-init`; stored as `<plugin>/0001-init`. */
export interface Migration {
  readonly name: string;
  up(db: Db): Promise<void>;
}

/** Migrations by plugin, in plugin order. */
export type MigrationSets = Readonly<Record<string, readonly Migration[]>>;

const TABLE = 'svc_migrations';
/** An arbitrary number: servers that boot at the same time on one PostgreSQL migrate one after another. */
const ADVISORY_LOCK = 7_367_063;

/**
 * Brings the schema up to date. knex's own migrator is not used: its lock is a row, which a killed process leaves
 * behind for good, and it cannot tell a removed plugin from a newer database.
 */
export async function migrate(db: Db, sets: MigrationSets): Promise<void> {
  await exclusively(db, async (trx) => {
    if (await trx.schema.hasTable(TABLE)) return;
    await trx.schema.createTable(TABLE, (table) => {
      table.string('name').primary();
      table.bigInteger('applied_at').notNullable();
    });
  });
  refuseNewer(await appliedNames(db), sets);
  for (const [plugin, list] of Object.entries(sets)) {
    for (const migration of list) await apply(db, `${plugin}/${migration.name}`, migration);
  }
}

async function apply(db: Db, name: string, migration: Migration): Promise<void> {
  await exclusively(db, async (trx) => {
    if ((await appliedNames(trx)).includes(name)) return;
    await migration.up(trx);
    await trx(TABLE).insert({ name, applied_at: Date.now() });
  }).catch((error: Error) => failBoot(`migration ${name} failed: ${error.message}`, undefined, error));
}

/** Tables of a plugin that is no longer configured may stay; a migration that a configured one does not know may not. */
function refuseNewer(applied: readonly string[], sets: MigrationSets): void {
  const unknown = applied.find((name) => {
    const [plugin = '', migration] = name.split('/');
    return Object.hasOwn(sets, plugin) && !sets[plugin]?.some((known) => known.name === migration);
  });
  if (unknown)
    failBoot(`the database is of a newer server: it has ${unknown}; install that version`, 'database');
}

async function appliedNames(db: Db): Promise<string[]> {
  return db<{ name: string }>(TABLE).pluck('name');
}

function exclusively(db: Db, work: (trx: Db) => Promise<void>): Promise<void> {
  return db.transaction(async (trx) => {
    if (dialectOf(trx) === 'postgres') await trx.raw('select pg_advisory_xact_lock(?)', [ADVISORY_LOCK]);
    await work(trx);
  });
}
