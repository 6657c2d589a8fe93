import { MIB } from '@svc/contract';
import { definePlugin, failValidation } from '@svc/kernel';
import { jobAdmit, jobTransition, jobsRef } from '@svc/plugin-jobs';
import { removeOrphans } from '@svc/plugin-retention';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Inspections } from './inspections.js';
import { snapshotsMigrations } from './migrations.js';
import { snapshotsOptions } from './options.js';
import { PARTIAL } from './receive.js';
import { removeUnused } from './remove-unused.js';
import { addRoutes, toDamaged } from './routes.js';
import { SnapshotStore } from './store.js';
import { UploadLimits } from './upload-limits.js';

const INSPECTIONS_AT_ONCE = 2;
const MOST_UPLOADS = { perToken: 8, inAll: 32 };

/** Source trees that are uploaded once, by their content, and brought to the hosts where their jobs run. */
export const snapshots = definePlugin({
  name: 'snapshots',
  requires: ['jobs'],
  uses: ['retention'],
  options: snapshotsOptions,
  setup(ctx, { max_mb, max_unpacked_mb, max_files: maxFiles }) {
    const jobs = ctx.use(jobsRef);
    const store = new SnapshotStore(join(ctx.config.dataDir, 'snapshots'));
    const uploads = {
      bodyLimitBytes: max_mb * MIB,
      limits: new UploadLimits(MOST_UPLOADS),
      inspections: new Inspections({ maxBytes: max_unpacked_mb * MIB, maxFiles }, INSPECTIONS_AT_ONCE),
    };
    ctx.migrations(snapshotsMigrations);
    ctx.owns({ table: 'snapshots', key: ['sha256'] });
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, store, uploads));
    ctx.tap(jobAdmit, async ({ snapshot }, _caller, issues) => {
      if (snapshot === null) return;
      const found = await store.find(ctx.db, snapshot);
      if (found === null) issues.add('snapshot', toMissing(snapshot));
      else if (!(await store.isWhole(found))) issues.add('snapshot', toDamaged(snapshot));
    });
    ctx.tap(jobTransition, async ({ before, after: { snapshot }, tx }) => {
      // It may have been removed since the job was admitted; from now on the job keeps it.
      if (before === null && snapshot !== null && !(await store.hold(tx, snapshot)))
        failValidation({ path: 'snapshot', message: toMissing(snapshot) });
    });
    ctx.tap(removeOrphans, (order) => removeUnused(ctx, store, jobs, order));
    ctx.ready(async () => {
      await removePartials(store.directory);
      await store.removeOrphans(ctx.db);
    });
  },
});

function toMissing(sha256: string): string {
  return `there is no snapshot ${sha256}: upload it first (POST /api/v1/snapshots)`;
}

/** What a server that died left of uploads. */
async function removePartials(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(PARTIAL)))
    await rm(join(directory, name), { force: true });
}
