import type { Run } from '@svc/contract';
import { definePlugin, HttpError } from '@svc/kernel';
import { checkpointsRef, findBest } from '@svc/plugin-checkpoints';
import { evaluationsRef } from '@svc/plugin-evaluations';
import { eventsRef } from '@svc/plugin-events';
import { jobsRef } from '@svc/plugin-jobs';
import { metricDefinitionsRef } from '@svc/plugin-metric-definitions';
import { metricsRef } from '@svc/plugin-metrics';
import { projectsRef } from '@svc/plugin-projects';
import { runsRef } from '@svc/plugin-runs';
import { findBestCheckpoint } from './best-checkpoint.js';
import type { Parts } from './parts.js';
import { addRoutes } from './routes.js';
import { toScope } from './scope.js';

/** Which checkpoint and which run is the best, by evaluations first and the training otherwise. */
export const ranking = definePlugin({
  name: 'ranking',
  requires: [
    'projects',
    'events',
    'jobs',
    'runs',
    'metrics',
    'metric-definitions',
    'checkpoints',
    'evaluations',
  ],
  setup(ctx) {
    const parts: Parts = {
      ctx,
      projects: ctx.use(projectsRef),
      events: ctx.use(eventsRef),
      jobs: ctx.use(jobsRef),
      runs: ctx.use(runsRef),
      metrics: ctx.use(metricsRef),
      definitions: ctx.use(metricDefinitionsRef),
      checkpoints: ctx.use(checkpointsRef),
      evaluations: ctx.use(evaluationsRef),
    };
    ctx.tap(findBest, (run) => bestOfRun(parts, run));
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, parts));
  },
});

/** null where a request would be refused: without a value, or when it is open which values can be compared. */
async function bestOfRun(parts: Parts, run: Run): Promise<string | null> {
  try {
    return (await findBestCheckpoint(parts, toScope([run]), { labels: {} })).winner.id;
  } catch (error) {
    if (error instanceof HttpError && error.status < 500) return null;
    throw error;
  }
}
