import { runnerConformance } from '@svc/agent/testing';
import { describeWithEngine } from '../support/docker-engine.js';
import { DOCKER } from '../support/host.js';

describeWithEngine('docker runner', () => runnerConformance(DOCKER));
