import { definePlugin } from '@svc/kernel';
import { processRunner } from './server.js';

export { processRunner } from './server.js';
export * from './spec.js';

/** Runs a job's command as a process group on the node's host. */
export const runnerProcess = definePlugin({
  name: 'runner-process',
  setup(ctx) {
    ctx.hooks.runners.tap(ctx.name, (runners) => runners.add(processRunner()));
  },
});
