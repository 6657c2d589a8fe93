import { routes as contract, type GarbageReport } from '@svc/contract';
import { definePlugin, fail, ok } from '@svc/kernel';
import { jobTransition, jobsRef } from '@svc/plugin-jobs';
import { metricsRef } from '@svc/plugin-metrics';
import { projectsRef } from '@svc/plugin-projects';
import { runsRef } from '@svc/plugin-runs';
import { join } from 'node:path';
import { Candidates } from './candidates.js';
import { collect } from './collect.js';
import { toCriteria, type GarbageOrder } from './criteria.js';
import { LogFolders } from './log-folders.js';
import { removeOrphans } from './hooks.js';
import { retentionMigrations } from './migrations.js';
import { PendingRemovals } from './pending-removals.js';
import { Remover } from './removal.js';
import { retentionRef } from './service.js';
import { Turns } from './turns.js';

export * from './hooks.js';
export * from './service.js';
export type { GarbageOrder } from './criteria.js';

/** For how long a request removes, when nobody waits to delete a run; it then says that it is not complete. */
const REQUEST_MS = 20_000;

export const retention = definePlugin({
  name: 'retention',
  requires: ['projects', 'jobs', 'logs', 'runs', 'metrics'],
  setup(ctx) {
    const logs = new LogFolders(join(ctx.config.dataDir, 'logs'));
    const runs = ctx.use(runsRef);
    const candidates = new Candidates(ctx, ctx.use(jobsRef), runs);
    const remover = new Remover(ctx, runs, candidates, logs, () => pending.tryLater());
    const turns = new Turns();
    const pending: PendingRemovals = new PendingRemovals(ctx, remover, turns);
    const projects = ctx.use(projectsRef);
    const parts = { ctx, candidates, logs, remover, metrics: ctx.use(metricsRef) };
    let isCollecting = false;

    async function collectGarbage(order: GarbageOrder, signal?: AbortSignal): Promise<GarbageReport> {
      const criteria = await toCriteria(ctx.db, projects, order, ctx.clock.now());
      const { dry_run: dryRun = true } = order;
      const isLeft = () => ctx.signal.aborted || signal?.aborted === true;
      if (dryRun) return collect(parts, { criteria, dryRun, isOver: isLeft });
      return alone(() => {
        const endMs = performance.now() + REQUEST_MS;
        const isOver = () => isLeft() || turns.isWaitedFor || performance.now() > endMs;
        return collect(parts, { criteria, dryRun, isOver });
      });
    }

    /** A second one would find the same. The deletion of a run waits for its turn. */
    async function alone<T>(work: () => Promise<T>): Promise<T> {
      if (isCollecting) fail('conflict', 'something is being removed already; try again when that is done');
      isCollecting = true;
      return turns.take(work).finally(() => (isCollecting = false));
    }

    ctx.migrations(retentionMigrations);
    ctx.owns({ table: 'removals' });
    ctx.declare(removeOrphans);
    ctx.provide(retentionRef, { collectGarbage });
    ctx.hooks.routes.tap(ctx.name, (routes) => {
      routes.add(contract.collectGarbage, async ({ body, signal }) => ok(await collectGarbage(body, signal)));
      routes.add(contract.deleteRun, async ({ params }) =>
        ok(await turns.take(() => remover.deleteRun(params.run_id))),
      );
    });
    ctx.tap(jobTransition, ({ before }) => {
      if (before && remover.isGoing(before.id)) fail('conflict', `job ${before.id} is being removed`);
    });
    ctx.ready(() => pending.begin());
    ctx.onClose(async () => {
      pending.close();
      await turns.settled();
    });
  },
});
