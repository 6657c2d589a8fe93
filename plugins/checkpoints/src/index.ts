import { definePlugin } from '@svc/kernel';
import { eventsRef } from '@svc/plugin-events';
import { projectsRef } from '@svc/plugin-projects';
import { runsRef } from '@svc/plugin-runs';
import { findBest, findResults } from './hooks.js';
import { checkpointsMigrations } from './migrations.js';
import { registerCheckpoint } from './register.js';
import { addRoutes } from './routes.js';
import { checkpointsRef, type Checkpoints } from './service.js';
import { withResults } from './shown.js';
import { checkpointsOfRuns, findCheckpoints, markGone, requireCheckpoint } from './store.js';

export * from './hooks.js';
export * from './service.js';

export const checkpoints = definePlugin({
  name: 'checkpoints',
  requires: ['projects', 'events', 'runs'],
  setup(ctx) {
    const events = ctx.use(eventsRef);
    const projects = ctx.use(projectsRef);
    const runs = ctx.use(runsRef);
    const service: Checkpoints = {
      markGone: (runId, path, at) => markGone(ctx.db, runId, path, at),
      register: (run, draft, source, at) => registerCheckpoint(ctx, events, run, draft, source, at),
      require: (db, id) => requireCheckpoint(db, runs, id),
      show: async (id) => withResults(ctx, await requireCheckpoint(ctx.db, runs, id)),
      find: (db, ids) => findCheckpoints(db, runs, ids),
      ofRuns: checkpointsOfRuns,
    };
    ctx.declare(findResults);
    ctx.declare(findBest);
    ctx.migrations(checkpointsMigrations);
    ctx.owns({ table: 'checkpoints', kind: 'checkpoint', of: { run_id: 'run' }, batched: true });
    ctx.provide(checkpointsRef, service);
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, { projects, runs }, service));
  },
});
