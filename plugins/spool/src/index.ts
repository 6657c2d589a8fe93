import { checkpointsRef } from '@svc/plugin-checkpoints';
import { definePlugin } from '@svc/kernel';
import { eventsRef } from '@svc/plugin-events';
import { jobsRef } from '@svc/plugin-jobs';
import { metricsRef } from '@svc/plugin-metrics';
import { nodesRef } from '@svc/plugin-nodes';
import { runsRef } from '@svc/plugin-runs';
import { SpoolIntake } from './intake.js';
import { RecordStore } from './record-store.js';

export const spool = definePlugin({
  name: 'spool',
  requires: ['nodes', 'jobs', 'runs', 'metrics', 'checkpoints', 'events'],
  setup(ctx) {
    const nodes = ctx.use(nodesRef);
    const store = new RecordStore(ctx, {
      runs: ctx.use(runsRef),
      metrics: ctx.use(metricsRef),
      checkpoints: ctx.use(checkpointsRef),
      events: ctx.use(eventsRef),
    });
    const intake = new SpoolIntake(ctx, nodes, ctx.use(jobsRef), ctx.use(runsRef), store);
    nodes.onFrame('spool', (frame, from) => intake.frame(frame, from));
  },
});
