import type { Job } from '@svc/contract';
import { definePlugin, namesById, type PluginContext } from '@svc/kernel';
import { eventsRef, findSubject, nameSubjects } from '@svc/plugin-events';
import { frameReceived, helloReceived, nodeChanged, nodeRemove, nodesRef } from '@svc/plugin-nodes';
import { countUsage, moveExperiment, projectsRef } from '@svc/plugin-projects';
import { Canceller } from './cancel.js';
import { Dispatcher } from './dispatch.js';
import { hideEnv } from './hide-env.js';
import { attemptPrepare, jobAdmit, jobChanged, jobDraft, jobOrder, jobTransition } from './hooks.js';
import { deleteOldKeys } from './idempotency.js';
import {
  countByPlacement,
  countByStatus,
  dropRun,
  getAttempt,
  findAttempt,
  nodesOfAttempts,
  getJob,
  listJobs,
  lockJob,
  moveExperimentJobs,
  placeJob,
  requireJob,
  snapshotsInUse,
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

export * from './hooks.js';
export * from './service.js';

const HOUR_MS = 60 * 60_000;
/** The checkpoint that it works on is in use. */
const IS_OPEN = `status in ('QUEUED', 'DISPATCHING', 'RUNNING', 'LOST')`;

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
    ctx.owns(
      { table: 'jobs', kind: 'job', keeps: { checkpoint_id: 'checkpoint' }, keepsWhile: IS_OPEN },
      { table: 'attempts', key: ['job_id', 'attempt'], of: { job_id: 'job' } },
      { table: 'idempotency_keys', key: ['token_id', 'route', 'key'], of: { job_id: 'job' } },
    );
    for (const hook of [jobDraft, jobAdmit, jobOrder, attemptPrepare, jobTransition, jobChanged])
      ctx.declare(hook);
    ctx.tap(countUsage, async ({ db, level, ids, noun = 'jobs' }) =>
      noun === 'jobs' ? { noun, counts: await countByPlacement(db, level, ids) } : undefined,
    );
    ctx.tap(moveExperiment, moveExperimentJobs);
    ctx.tap(findSubject, async (db, kind, id) =>
      kind === 'job' ? (await requireJob(db, id)).id : undefined,
    );
    ctx.tap(nameSubjects, (db, ids) => namesById(db, 'jobs', ids));
    ctx.tap(frameReceived.accepted, (frame, from) => reports.accepted(frame, from));
    ctx.tap(frameReceived.attempt, ({ type: _, ...report }, from) => reports.reported(report, from));
    ctx.tap(helloReceived, (context) => reconciler.reconcile(context));
    ctx.tap(nodeRemove, settleRemovedNode);
    ctx.tap(nodeChanged, wake);
    ctx.tap(jobChanged, ({ after }) => {
      queue.note(after.id);
      dispatcher.noteChange(after);
      if (!isDispatchedOrRunning(after)) wake();
    });
    ctx.hooks.routes.tap(ctx.name, (routes) =>
      addRoutes(routes, ctx, {
        submitter,
        canceller,
        killGraceMs: timing.killGraceMs,
        retrier,
        projects,
        nodes,
      }),
    );
    ctx.provide<Jobs>(jobsRef, {
      submit: (request) => submitter.submit(request),
      get: getJob,
      lock: lockJob,
      place: placeJob,
      dropRun,
      require: requireJob,
      list: listJobs,
      query: (db) => db('jobs').select('id', 'name', 'status', 'finished_at'),
      hideEnv,
      countByStatus,
      snapshotsInUse,
      attempt: findAttempt,
      nodesOfAttempts,
      attemptRecord: getAttempt,
    });
    ctx.ready(() => submitter.start());
    ctx.listening(() => scheduler.start());
    ctx.onClose(async () => {
      await scheduler.close();
      await dispatcher.close();
    });
    deleteOldKeysHourly(ctx);
  },
});

/** No slot was freed and nothing was queued: no wake-up. */
function isDispatchedOrRunning({ status }: Job): boolean {
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
