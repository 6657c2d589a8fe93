import { routes as contract } from '@svc/contract';
import { definePlugin, ok, type PluginContext, type RouteCollector } from '@svc/kernel';
import { jobsRef } from '@svc/plugin-jobs';
import { nodesRef } from '@svc/plugin-nodes';
import { readFileSync } from 'node:fs';
import { ensureDatabaseAnswers } from './health.js';

/** The most running jobs that one answer shows. */
const MAX_RUNNING = 1000;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const service = definePlugin({
  name: 'service',
  requires: ['nodes', 'jobs'],
  setup(ctx) {
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx));
  },
});

function addRoutes(routes: RouteCollector, ctx: PluginContext): void {
  const jobs = ctx.use(jobsRef);
  const nodes = ctx.use(nodesRef);
  const startedAt = ctx.clock.now();

  routes.add(contract.getHealth, async () => {
    await ensureDatabaseAnswers(ctx.db, ctx);
    return ok({ status: 'ok', version, uptime_s: (ctx.clock.now() - startedAt) / 1000 });
  });

  routes.add(contract.getStatus, async ({ caller }) => {
    const { items: running } = await jobs.list(ctx.db, { status: 'RUNNING', limit: MAX_RUNNING });
    return ok({
      nodes: await nodes.count(ctx.db),
      jobs: await jobs.countByStatus(ctx.db),
      running: running.map((job) => jobs.hideEnv(job, caller)),
    });
  });
}
