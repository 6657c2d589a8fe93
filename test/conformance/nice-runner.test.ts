import { runnerConformance } from '@svc/agent/testing';

// A runner as a third party writes it, on nothing but what @svc/agent exports.
runnerConformance({
  runner: 'nice',
  config: new URL('../fixtures/nice-runner/svc.agent.config.ts', import.meta.url),
});
