import { strict } from '@svc/contract';
import { BootError, definePlugin } from '@svc/kernel';
import { eventsRef } from '@svc/plugin-events';
import { jobChanged, jobsRef } from '@svc/plugin-jobs';
import { linesAppended, logsRef } from '@svc/plugin-logs';
import { metricsRef, pointsAppended } from '@svc/plugin-metrics';
import { nodeMetricsRef, samplesReceived } from '@svc/plugin-node-metrics';
import { nodeChanged } from '@svc/plugin-nodes';
import { runChanged, runDeleted, runsRef } from '@svc/plugin-runs';
import { Type } from 'typebox';
import { DETECTORS } from './built-in/index.js';
import { Announcer } from './engine/announcer.js';
import { Attempts, toWatched } from './engine/attempts.js';
import { Engine } from './engine/engine.js';
import { FailureLog } from './engine/failure-log.js';
import { configure } from './engine/settings.js';
import { Subjects } from './engine/subjects.js';
import { addRoutes } from './replay/routes.js';

const options = strict({
  settings: Type.Optional(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
      description: 'Options of the detectors by their names.',
    }),
  ),
});

/** Notices trouble in points, logs, jobs and hosts while it happens. */
export const detectors = definePlugin({
  name: 'detectors',
  requires: ['events', 'jobs', 'logs', 'runs', 'metrics', 'nodes', 'node-metrics'],
  options,
  setup(ctx, { settings = {} }) {
    const jobs = ctx.use(jobsRef);
    const of = { events: ctx.use(eventsRef), runs: ctx.use(runsRef), jobs };
    let engine: Engine | null = null;
    ctx.hooks.detectors.tap(ctx.name, (all) => {
      for (const detector of DETECTORS) all.add(detector);
    });
    ctx.hooks.routes.tap(ctx.name, (routes) =>
      addRoutes(routes, ctx, {
        settings,
        jobs,
        runs: of.runs,
        logs: ctx.use(logsRef),
        metrics: ctx.use(metricsRef),
        nodeMetrics: ctx.use(nodeMetricsRef),
      }),
    );
    ctx.tap(pointsAppended, (batch) => engine?.add({ kind: 'points', ...batch }));
    ctx.tap(linesAppended, (batch) => engine?.add({ kind: 'lines', ...batch }));
    ctx.tap(samplesReceived, (batch) => engine?.add({ kind: 'samples', ...batch }));
    ctx.tap(runChanged, ({ after }) => engine?.add({ kind: 'run', run: after }));
    ctx.tap(runDeleted, ({ id }) => engine?.add({ kind: 'runDeleted', id }));
    ctx.tap(jobChanged, ({ before, after }) =>
      engine?.add({ kind: 'job', job: toWatched(after), previousAttempt: before?.attempt ?? null }),
    );
    ctx.tap(nodeChanged, ({ after }) => engine?.add({ kind: 'node', node: after }));
    ctx.ready(async () => {
      const configured = configure(ctx.registered.detectors, settings, (path, message) => {
        throw new BootError(`settings of detectors: ${path}: ${message}`, ['settings', ctx.name]);
      });
      const attempts = new Attempts(ctx, jobs);
      const findRun = async (id: string) => (await of.runs.find(ctx.db, [id]))[0] ?? null;
      const subjects = new Subjects(configured, new FailureLog(ctx).report);
      engine = new Engine(ctx, attempts, subjects, new Announcer(ctx, of), findRun);
      ctx.onClose(engine.start(await attempts.load()));
    });
  },
});
