import { runnerConformance } from '@svc/agent/testing';
import { DockerEngine } from './support/docker-engine.js';
import { DOCKER } from './support/host.js';

describe('docker runner', function () {
  this.timeout(60_000);
  let engine: DockerEngine;
  before(async function () {
    if (!process.env['SVC_TEST_DOCKERD']) this.skip();
    engine = await DockerEngine.create();
  });
  after(() => engine?.close());

  runnerConformance(DOCKER);
});
