import { definePlugin } from '@svc/kernel';
import type { Run } from '@svc/contract';
import { eventsRef } from '@svc/plugin-events';
import { jobChanged, jobsRef } from '@svc/plugin-jobs';
import { metricDefinitionsRef } from '@svc/plugin-metric-definitions';
import { readMetricValues, runChanged, runDeleted, runsRef } from '@svc/plugin-runs';
import { pointsAppended } from './hooks.js';
import { LivePoints } from './live-points.js';
import { metricsMigrations } from './migrations.js';
import { pagesOf } from './point-pages.js';
import { countPoints, PointStore } from './point-store.js';
import type { PointsWrite } from './point-writer.js';
import { addRoutes } from './routes.js';
import { digestsOfRuns, valuesOfRuns } from './run-values.js';
import { metricsRef } from './service.js';
import { digestsOf } from './stretches.js';
import { loadSigns } from './summary.js';
import { WriteQueue } from './write-queue.js';

export * from './hooks.js';
export * from './service.js';

export const metrics = definePlugin({
  name: 'metrics',
  requires: ['events', 'jobs', 'runs', 'metric-definitions'],
  setup(ctx) {
    const events = ctx.use(eventsRef);
    const runs = ctx.use(runsRef);
    const jobs = ctx.use(jobsRef);
    const definitions = ctx.use(metricDefinitionsRef);
    const live = new LivePoints(ctx.clock);
    const store = new PointStore(ctx, runs, async (trx, written, createdNames) => {
      await definitions.ensure(trx, createdNames, ctx.clock.now());
      for (const { run_id, progress } of written) await runs.touchProgress(trx, run_id, progress);
    });
    const queue = new WriteQueue((group) => store.write(group));

    async function write(batch: PointsWrite) {
      const written = await queue.add(batch);
      if (written.accepted.length > 0) {
        live.publish(batch.run_id, written.accepted);
        void ctx.fire(pointsAppended, { run_id: batch.run_id, points: written.accepted });
      }
      return written;
    }

    const signs = (run: Run) => loadSigns({ db: ctx.db, store, events, definitions }, run, ctx.clock.now());
    const summary = async (run: Run) => (await signs(run)).summary;

    ctx.declare(pointsAppended);
    ctx.migrations(metricsMigrations);
    ctx.owns(
      { table: 'metric_runs', key: ['key'], of: { run_id: 'run' } },
      {
        table: 'metric_seq_ranges',
        key: ['run_key', 'from_seq'],
        of: { run_key: 'metric_runs' },
        batched: true,
      },
      { table: 'metric_series', of: { run_key: 'metric_runs' }, batched: true },
      {
        table: 'metric_chunks',
        key: ['series_id', 'step_first', 'seq_first'],
        of: { series_id: 'metric_series' },
        batched: true,
      },
    );
    ctx.hooks.routes.tap(ctx.name, (routes) =>
      addRoutes(routes, ctx, { runs, jobs, store, live, write, summary }),
    );
    ctx.tap(runChanged, ({ after }) => {
      if (after.status !== 'RUNNING' && after.status !== 'LOST') void live.end(after.id);
    });
    ctx.tap(readMetricValues, (db, query) => valuesOfRuns(store, definitions, db, query));
    ctx.tap(runDeleted, ({ id }) => void live.end(id));
    ctx.tap(jobChanged, ({ before, after }) => {
      if (before && before.attempt !== after.attempt) void live.endAttempt(before.id, before.attempt);
    });
    ctx.provide(metricsRef, {
      write,
      remove: (runId, name, fromSeq) => store.remove(runId, name, fromSeq),
      points: (runId, names) => pagesOf(store, runId, names),
      count: countPoints,
      summary,
      signs,
      extremes: (runIds, name) => digestsOfRuns(store, runIds, name),
      extremesWithin: (runId, name, stretches) => digestsOf(store, runId, name, stretches),
    });
    ctx.onClose(() => queue.settled());
  },
});
