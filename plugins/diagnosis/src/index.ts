import { routes as contract } from '@svc/contract';
import { definePlugin, ok } from '@svc/kernel';
import { checkpointsRef } from '@svc/plugin-checkpoints';
import { evaluationsRef } from '@svc/plugin-evaluations';
import { eventsRef } from '@svc/plugin-events';
import { failuresRef } from '@svc/plugin-failures';
import { jobsRef } from '@svc/plugin-jobs';
import { metricDefinitionsRef } from '@svc/plugin-metric-definitions';
import { metricsRef } from '@svc/plugin-metrics';
import { nodeMetricsRef } from '@svc/plugin-node-metrics';
import { runsRef } from '@svc/plugin-runs';
import { diagnose } from './diagnose.js';
import type { Parts } from './parts.js';

/** How a run goes, with evidence. */
export const diagnosis = definePlugin({
  name: 'diagnosis',
  requires: [
    ...(['events', 'jobs', 'runs', 'metrics', 'metric-definitions'] as const),
    ...(['node-metrics', 'failures', 'checkpoints', 'evaluations'] as const),
  ],
  setup(ctx) {
    const runs = ctx.use(runsRef);
    const parts: Parts = {
      ctx,
      jobs: ctx.use(jobsRef),
      events: ctx.use(eventsRef),
      metrics: ctx.use(metricsRef),
      definitions: ctx.use(metricDefinitionsRef),
      failures: ctx.use(failuresRef),
      checkpoints: ctx.use(checkpointsRef),
      evaluations: ctx.use(evaluationsRef),
      nodeMetrics: ctx.use(nodeMetricsRef),
    };
    ctx.hooks.routes.tap(ctx.name, (routes) =>
      routes.add(contract.diagnoseRun, async ({ params }) =>
        ok(await diagnose(parts, await runs.require(ctx.db, params.run_id))),
      ),
    );
  },
});
