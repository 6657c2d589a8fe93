import type { Db, MigrationSets } from '@svc/kernel';
import type { TestDatabase } from '@svc/kernel/testing';
import { metricsMigrations } from '../src/migrations.js';
import { PointStore } from '../src/point-store.js';
import type { PointsWrite } from '../src/point-writer.js';

export const RUN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';
export const OTHER_RUN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZY';

/** The tables of points, and of `runs` no more than what they refer to. */
export const storeMigrations: MigrationSets = {
  runs: [
    {
      name: '0001-init',
      up: (trx) => trx.schema.createTable('runs', (table) => table.string('id', 40).primary()),
    },
  ],
  metrics: metricsMigrations,
};

export async function openStore(database: TestDatabase): Promise<{ db: Db; store: PointStore }> {
  const db = await database.open(storeMigrations);
  await db('runs').insert([{ id: RUN }, { id: OTHER_RUN }]);
  return { db, store: new PointStore({ db }, { hold: holdRuns }, () => Promise.resolve()) };
}

/** As plugins/runs does, on the small table above. */
async function holdRuns(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(await db<{ id: string }>('runs').whereIn('id', ids).pluck('id'));
}

export async function clearStore(db: Db): Promise<void> {
  await db('metric_runs').delete();
}

export function batch(points: PointsWrite['points'], run_id = RUN): PointsWrite {
  return { run_id, points, at: 1_700_000_000_000 };
}
