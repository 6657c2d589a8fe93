import { isTerminal } from '@svc/contract';
import { definePlugin, yieldIfSliceOver } from '@svc/kernel';
import { jobChanged, jobsRef } from '@svc/plugin-jobs';
import { frameReceived, helloReceived, nodeChanged, nodesRef } from '@svc/plugin-nodes';
import { join } from 'node:path';
import { AttemptNodes } from './attempt-nodes.js';
import { Compressor } from './compressor.js';
import { linesAppended } from './hooks.js';
import { LogIntake } from './intake.js';
import { LogStore } from './log-store.js';
import { PartialLines } from './partial-lines.js';
import { RetryingLogStore } from './retrying-log-store.js';
import { addRoutes } from './routes.js';
import { logsRef } from './service.js';

export * from './hooks.js';
export * from './service.js';

export const logs = definePlugin({
  name: 'logs',
  requires: ['nodes', 'jobs'],
  setup(ctx) {
    const nodes = ctx.use(nodesRef);
    const jobs = ctx.use(jobsRef);
    const store = new LogStore(join(ctx.config.dataDir, 'logs'));
    const compressor = new Compressor(ctx, store);
    const attemptNodes = new AttemptNodes(ctx, jobs);
    const partials = new PartialLines(nodes, (key) => store.wake(key));
    const retrying = new RetryingLogStore(ctx, store);
    const intake = new LogIntake(ctx, retrying, attemptNodes, nodes, compressor, partials);
    ctx.declare(linesAppended);
    ctx.tap(frameReceived.logs, (frame, from) => intake.frame(frame, from));
    ctx.tap(frameReceived.partial, (frame, from) => intake.partial(frame, from));
    ctx.tap(helloReceived, (context) => intake.hello(context));
    ctx.tap(jobChanged, ({ after }) => {
      attemptNodes.jobChanged(after.id);
      store.jobChanged(after.id);
      if (isTerminal(after.status)) partials.jobEnded(after.id);
    });
    ctx.tap(nodeChanged, () => partials.nodeChanged());
    ctx.hooks.routes.tap(ctx.name, (routes) => addRoutes(routes, { ctx, store, partials, jobs }));
    ctx.provide(logsRef, {
      nextSeq: ({ job_id, attempt }) =>
        store.with(job_id, attempt, (log) => Promise.resolve(log.state.next_seq)),
      readFrom: ({ job_id, attempt }, seq, take) =>
        store.with(job_id, attempt, async (log) => {
          for await (const lines of log.linesFrom(seq)) {
            await take(lines);
            await yieldIfSliceOver();
          }
        }),
    });
    ctx.listening(() => void compressor.enqueueUncompressed());
    ctx.onClose(async () => {
      await compressor.settled();
      await store.settled();
    });
  },
});
