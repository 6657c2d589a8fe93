import type { Job } from '@svc/contract';
import { definePlugin, type PluginContext } from '@svc/kernel';
import { eventsRef } from '@svc/plugin-events';
import { nodesRef } from '@svc/plugin-nodes';
import { projectsRef } from '@svc/plugin-projects';
import { Canceller } from './cancel.js';
import { Dispatcher } from './dispatch.js';
import { hideEnv } from './hide-env.js';
import { deleteOldKeys } from './idempotency.js';
import {
  countByPlacement,
  countByStatus,
  getAttempt,
  getJob,
  listAttempts,
  listJobs,
  lockJob,
  moveExperiment,
  requireJob,
} from './job-store.js';
import { jobsMigrations } from './migrations.js';
import { settleRemovedNode } from './node-removal.js';
import { jobsOptions, toTiming } from './options.js';
import { Queue } from './queue.js';
import { Reconciler } from './reconcile.js';
import { Reports } from './reports.js';
import { Retrier } from './retry.js';
import { addRoutes } from './routes.js';
import { Scheduler } from './scheduler.js';
import { jobsRef, type Jobs } from './service.js';
import { Submitter } from './submit.js';
import { Sweeper } from './sweep.js';
import { Transitions } from './transition.js';

export { jobsMigrations } from './migrations.js';
export * from './service.js';

const HOUR_MS = 60 * 60_000;

export const jobs = definePlugin({
  name: 'jobs',
  requires: ['events', 'projects', 'nodes'],
  options: jobsOptions,
  setup(ctx, options) {
    const nodes = ctx.use(nodesRef);
    const projects = ctx.use(projectsRef);
    const timing = toTiming(options);
    const wake = () => scheduler.wake();
    const transitions = new Transitions(ctx, ctx.use(eventsRef));
    const dispatcher = new Dispatcher(ctx, nodes, transitions, timing);
    const reports = new Reports(ctx, nodes, transitions, dispatcher, timing, wake);
    const reconciler = new Reconciler(ctx, nodes, transitions, dispatcher, reports, wake);
    const submitter = new Submitter(ctx, projects, transitions);
    const canceller = new Canceller(ctx, nodes, transitions, dispatcher, timing);
    const retrier = new Retrier(ctx, transitions, timing);
    const sweeper = new Sweeper(ctx, nodes, transitions, dispatcher, timing);
    const queue = new Queue();
    const scheduler = new Scheduler(ctx, nodes, { queue, dispatcher, retrier, sweeper }, timing);

    ctx.migrations(jobsMigrations);
    projects.countUsage({ noun: 'jobs', count: countByPlacement, move: moveExperiment });
    nodes.onFrame('accepted', (frame, from) => reports.accepted(frame, from));
    nodes.onFrame('attempt', ({ type: _, ...report }, from) => reports.reported(report, from));
    nodes.onHello((context) => reconciler.reconcile(context));
    nodes.onRemove(settleRemovedNode);
    ctx.hooks.nodeChanged.tap(ctx.name, wake);
    ctx.hooks.jobChanged.tap(ctx.name, ({ after }) => {
      queue.note(after.id);
      if (!isOnItsWay(after)) wake();
    });
    ctx.hooks.routes.tap(ctx.name, (routes) =>
      addRoutes(routes, ctx, { submitter, canceller, retrier, projects, nodes }),
    );
    ctx.provide<Jobs>(jobsRef, {
      get: getJob,
      lock: lockJob,
      require: requireJob,
      list: listJobs,
      hideEnv,
      countByStatus,
      attempts: listAttempts,
      attempt: getAttempt,
      submit: async (body, caller, extras) => (await submitter.submit(body, caller, extras)).job,
    });
    ctx.ready(() => submitter.start());
    ctx.listening(() => scheduler.start());
    ctx.onClose(async () => {
      await scheduler.close();
      await dispatcher.close();
      await transitions.settle();
    });
    deleteOldKeysHourly(ctx);
  },
});

/** Its change has freed nothing and queued nothing. */
function isOnItsWay({ status }: Job): boolean {
  return status === 'DISPATCHING' || status === 'RUNNING';
}

function deleteOldKeysHourly(ctx: PluginContext): void {
  ctx.ready(() => {
    const timer = ctx.clock.setInterval(() => {
      deleteOldKeys(ctx.db, ctx.clock.now()).catch((err: unknown) =>
        ctx.log.warn({ err }, 'cannot delete old idempotency keys'),
      );
    }, HOUR_MS);
    ctx.onClose(() => timer.clear());
  });
}
