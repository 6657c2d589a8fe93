import { definePlugin } from '@svc/kernel';
import { metricsRef, pointsAppended } from '@svc/plugin-metrics';
import { foundPoints } from '@svc/plugin-spool';
import { FoundMetrics } from './found-metrics.js';
import { eventFilesMigrations } from './migrations.js';

/** Metrics that the agent finds in event files of a training are left out where the training reports them itself. */
export const eventFiles = definePlugin({
  name: 'event-files',
  requires: ['runs', 'metrics', 'spool'],
  setup(ctx) {
    const found = new FoundMetrics(ctx, ctx.use(metricsRef));
    ctx.migrations(eventFilesMigrations);
    ctx.owns({ table: 'found_metrics', key: ['run_id', 'name'], of: { run_id: 'run' }, batched: true });
    ctx.tap(foundPoints, (points, run) => found.select(run.id, points));
    ctx.tap(pointsAppended, ({ run_id, points }) => found.noteStored(run_id, points));
  },
});
