import { TestHost } from '@svc/agent/testing';
import type { DockerPlan } from '../../src/spec.js';
import { IMAGE } from './docker-engine.js';

export const toPlan = (command: readonly string[], changes: Partial<DockerPlan> = {}): DockerPlan => ({
  command,
  image: IMAGE,
  pull: 'never',
  mounts: [],
  shm_size_mb: 16,
  memory_mb: null,
  cpus: null,
  network: null,
  user: null,
  entrypoint: null,
  working_dir: null,
  ...changes,
});

export const DOCKER = {
  runner: 'docker',
  config: new URL('./agent-config.ts', import.meta.url),
  plan: toPlan,
} as const;

export const createHost = (): Promise<TestHost> => TestHost.create(DOCKER);
