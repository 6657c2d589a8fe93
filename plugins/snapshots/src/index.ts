import { MIB } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import { jobAdmit, jobsRef } from '@svc/plugin-jobs';
import { removeOrphans } from '@svc/plugin-retention';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { snapshotsMigrations } from './migrations.js';
import { snapshotsOptions } from './options.js';
import { PARTIAL } from './receive.js';
import { addRoutes } from './routes.js';
import { removeUnused } from './remove-unused.js';
import { SnapshotStore } from './store.js';

/** Each holds a thread and the memory of what it inspects. */
const UPLOADS = 4;

/** Source trees that are uploaded once, by their content, and brought to the hosts where their jobs run. */
export const snapshots = definePlugin({
  name: 'snapshots',
  requires: ['jobs'],
  uses: ['retention'],
  options: snapshotsOptions,
  setup(ctx, { max_mb, max_unpacked_mb, max_files: maxFiles }) {
    const jobs = ctx.use(jobsRef);
    const store = new SnapshotStore(join(ctx.config.dataDir, 'snapshots'));
    const limits = {
      bodyLimitBytes: max_mb * MIB,
      maxBytes: max_unpacked_mb * MIB,
      maxFiles,
      uploads: UPLOADS,
    };
    ctx.migrations(snapshotsMigrations);
    ctx.owns({ table: 'snapshots', key: ['sha256'] });
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, store, limits));
    ctx.tap(jobAdmit, async ({ snapshot }, _caller, issues) => {
      if (snapshot !== null && (await store.find(ctx.db, snapshot)) === null)
        issues.add('snapshot', `there is no snapshot ${snapshot}: upload it first (POST /api/v1/snapshots)`);
    });
    ctx.tap(removeOrphans, (order) => removeUnused(ctx.db, store, jobs, order));
    ctx.ready(() => removePartials(store.directory));
  },
});

/** What a server that died left of uploads. */
async function removePartials(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(PARTIAL)))
    await rm(join(directory, name), { force: true });
}
