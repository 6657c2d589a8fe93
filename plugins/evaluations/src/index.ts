import { EvaluationResult } from '@svc/contract';
import { definePlugin, type PluginContext } from '@svc/kernel';
import { checkpointsRef, findResults } from '@svc/plugin-checkpoints';
import { eventsRef } from '@svc/plugin-events';
import { jobTransition, jobsRef } from '@svc/plugin-jobs';
import { nodesRef } from '@svc/plugin-nodes';
import { runsRef } from '@svc/plugin-runs';
import { Lifecycle } from './lifecycle.js';
import { evaluationsMigrations } from './migrations.js';
import { evaluationsOptions } from './options.js';
import { RESULT_CHANNEL } from './result-channel.js';
import { addRoutes } from './routes.js';
import { evaluationsRef } from './service.js';
import { resultsOf, valuesOf } from './store.js';

export * from './service.js';

const OVERDUE_CHECK_MS = 15_000;

export const evaluations = definePlugin({
  name: 'evaluations',
  requires: ['events', 'nodes', 'jobs', 'runs', 'checkpoints'],
  options: evaluationsOptions,
  setup(ctx, { shared_paths: sharedPaths, result_timeout_s }) {
    const nodes = ctx.use(nodesRef);
    const jobs = ctx.use(jobsRef);
    const parts = {
      nodes,
      jobs,
      sharedPaths,
      runs: ctx.use(runsRef),
      checkpoints: ctx.use(checkpointsRef),
    };
    const lifecycle = new Lifecycle(ctx, jobs, ctx.use(eventsRef), result_timeout_s * 1000);
    ctx.migrations(evaluationsMigrations);
    ctx.owns({
      table: 'evaluations',
      kind: 'evaluation',
      batched: true,
      of: { checkpoint_id: 'checkpoint', run_id: 'run' },
    });
    ctx.tap(jobTransition, async (transition) => {
      await lifecycle.mirror(transition);
      return undefined;
    });
    ctx.tap(findResults, resultsOf);
    nodes.channel(RESULT_CHANNEL, EvaluationResult, (result, from) => lifecycle.receive(result, from));
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, parts));
    ctx.provide(evaluationsRef, {
      ofRuns: (db, ids, metric, filter) => valuesOf(db, 'run_id', ids, metric, filter),
      ofCheckpoints: (db, ids, metric, filter) => valuesOf(db, 'checkpoint_id', ids, metric, filter),
    });
    watchOverdue(ctx, lifecycle);
  },
});

function watchOverdue(ctx: PluginContext, lifecycle: Lifecycle): void {
  ctx.listening(() => {
    const timer = ctx.clock.setInterval(() => {
      lifecycle
        .endOverdue()
        .catch((err: unknown) => ctx.log.warn({ err }, 'cannot look for overdue evaluations'));
    }, OVERDUE_CHECK_MS);
    ctx.onClose(() => timer.clear());
  });
}
