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
import { Remover } from './removal.js';
import { retentionRef } from './service.js';

export * from './hooks.js';
export * from './service.js';
export type { GarbageOrder } from './criteria.js';

/** For how long a request removes; it then says that it is not complete. */
const REQUEST_MS = 20_000;

export const retention = definePlugin({
  name: 'retention',
  requires: ['projects', 'jobs', 'logs', 'runs', 'metrics'],
  setup(ctx) {
    const logs = new LogFolders(join(ctx.config.dataDir, 'logs'));
    const candidates = new Candidates(ctx, ctx.use(jobsRef), ctx.use(runsRef));
    const remover = new Remover(ctx, candidates, logs);
    const projects = ctx.use(projectsRef);
    const parts = { ctx, candidates, logs, remover, metrics: ctx.use(metricsRef) };
    let working: Promise<unknown> | null = null;

    async function collectGarbage(order: GarbageOrder, signal?: AbortSignal): Promise<GarbageReport> {
      const criteria = await toCriteria(ctx.db, projects, order, ctx.clock.now());
      const { dry_run: dryRun = true } = order;
      const endMs = performance.now() + REQUEST_MS;
      const isOver = () =>
        ctx.signal.aborted || signal?.aborted === true || (!dryRun && performance.now() > endMs);
      const work = () => collect(parts, { criteria, dryRun, isOver });
      return dryRun ? work() : alone(work);
    }

    async function alone<T>(work: () => Promise<T>): Promise<T> {
      if (working) fail('conflict', 'something is being removed already; try again when that is done');
      const done = work();
      working = done.catch(() => undefined);
      return done.finally(() => (working = null));
    }

    ctx.migrations(retentionMigrations);
    ctx.owns({ table: 'removals' });
    ctx.declare(removeOrphans);
    ctx.provide(retentionRef, { collectGarbage });
    ctx.hooks.routes.tap(ctx.name, (routes) =>
      routes.add(contract.collectGarbage, async ({ body, signal }) => ok(await collectGarbage(body, signal))),
    );
    ctx.tap(jobTransition, ({ before }) => {
      if (before && remover.isGoing(before.id)) fail('conflict', `job ${before.id} is being removed`);
    });
    ctx.ready(async () => {
      const pending = await remover.pending();
      if (pending.length > 0) void alone(() => remover.resume(pending)).catch(complain);
    });
    ctx.onClose(async () => void (await working));

    function complain(err: unknown): void {
      ctx.log.error(
        { err },
        'a removal that was begun before cannot be finished; the next start tries again',
      );
    }
  },
});
