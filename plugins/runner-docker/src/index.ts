import { definePlugin } from '@svc/kernel';
import { dockerRunner } from './server.js';

export { dockerRunner } from './server.js';
export * from './spec.js';

/** Runs a job's command in a container on the node's host. */
export const runnerDocker = definePlugin({
  name: 'runner-docker',
  setup(ctx) {
    ctx.hooks.runners.tap(ctx.name, (runners) => runners.add(dockerRunner()));
  },
});
