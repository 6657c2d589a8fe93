import { checkpointsRef } from '@svc/plugin-checkpoints';
import { definePlugin } from '@svc/kernel';
import { eventsRef } from '@svc/plugin-events';
import { jobsRef } from '@svc/plugin-jobs';
import { metricDefinitionsRef } from '@svc/plugin-metric-definitions';
import { metricsRef } from '@svc/plugin-metrics';
import { frameReceived, nodesRef } from '@svc/plugin-nodes';
import { runsRef } from '@svc/plugin-runs';
import { foundPoints } from './hooks.js';
import { SpoolIntake } from './intake.js';
import { RecordStore } from './record-store.js';
import { RefusalEvents } from './refusal-events.js';

export * from './hooks.js';

export const spool = definePlugin({
  name: 'spool',
  requires: ['nodes', 'jobs', 'runs', 'metric-definitions', 'metrics', 'checkpoints', 'events'],
  setup(ctx) {
    const nodes = ctx.use(nodesRef);
    const jobs = ctx.use(jobsRef);
    const runs = ctx.use(runsRef);
    const events = ctx.use(eventsRef);
    const metrics = ctx.use(metricsRef);
    const definitions = ctx.use(metricDefinitionsRef);
    const checkpoints = ctx.use(checkpointsRef);
    ctx.declare(foundPoints);
    const store = new RecordStore(ctx, { runs, metrics, definitions, checkpoints, events });
    const refusals = new RefusalEvents(ctx, { jobs, runs, events });
    const intake = new SpoolIntake(ctx, nodes, jobs, runs, store, refusals);
    ctx.tap(frameReceived.spool, (frame, from) => intake.frame(frame, from));
  },
});
