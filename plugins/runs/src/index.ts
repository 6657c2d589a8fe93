import { definePlugin, fail, requireId } from '@svc/kernel';
import { authRef } from '@svc/plugin-auth';
import { eventsRef } from '@svc/plugin-events';
import { jobsRef } from '@svc/plugin-jobs';
import { projectsRef } from '@svc/plugin-projects';
import { findNode } from './assigned-runs.js';
import { KnownTargets } from './known-targets.js';
import { runsMigrations } from './migrations.js';
import { addRoutes } from './routes.js';
import { RunBook } from './run-book.js';
import { countRuns, findRun, moveExperimentRuns, raiseProgress } from './run-store.js';
import { runsRef } from './service.js';

export * from './service.js';
export { runsMigrations } from './migrations.js';

export const runs = definePlugin({
  name: 'runs',
  requires: ['auth', 'projects', 'events', 'jobs'],
  setup(ctx) {
    const projects = ctx.use(projectsRef);
    const parts = { auth: ctx.use(authRef), events: ctx.use(eventsRef), jobs: ctx.use(jobsRef), projects };
    const book = new RunBook(ctx, parts);
    const targets = new KnownTargets(parts.auth, (caller, id) => book.requireTarget(caller, id));
    ctx.migrations(runsMigrations);
    projects.countUsage({ noun: 'runs', count: countRuns, move: moveExperimentRuns });
    ctx.hooks.attemptPrepare.tapPromise(ctx.name, (plan) => book.prepare(plan));
    ctx.hooks.jobTransition.tapPromise(ctx.name, (transition) => book.follow(transition));
    ctx.hooks.jobChanged.tap(ctx.name, (change) => book.jobChanged(change));
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, ctx, book, parts));
    ctx.provide(runsRef, {
      get: findRun,
      require: async (db, id) =>
        (await findRun(db, requireId('run', id))) ?? fail('not_found', `no run "${id}"`),
      requireIngest: (caller, id) => book.requireIngest(caller, id),
      requireTarget: (caller, id) => targets.require(caller, id),
      nodeOf: findNode,
      update: (caller, id, fields) => book.update(caller, id, fields),
      finish: (caller, id, status) => book.finish(caller, id, status),
      touchProgress: raiseProgress,
    });
  },
});
