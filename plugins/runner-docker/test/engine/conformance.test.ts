import { runnerConformance } from '@svc/agent/testing';
import { describeWithEngine } from '../support/docker-engine.js';
import { DOCKER, toPlan } from '../support/host.js';

describeWithEngine('docker runner', () => runnerConformance({ ...DOCKER, hasOwnUrl: true }));
describeWithEngine('docker runner, network of the host', () =>
  runnerConformance({ ...DOCKER, plan: (command) => toPlan(command, { network: 'host' }) }),
);
