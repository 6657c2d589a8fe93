import type { RunContext } from '@svc/agent';
import type Docker from 'dockerode';
import os from 'node:os';
import type { DockerPlan } from '../spec.js';
import { toContainerConfig } from './container-config.js';
import type { DockerSettings } from './options.js';

export async function prepareContainer(
  plan: DockerPlan,
  ctx: RunContext<unknown>,
  settings: DockerSettings,
  client: Docker,
): Promise<Docker.ContainerCreateOptions> {
  const image = await client.getImage(plan.image).inspect();
  return toContainerConfig(plan, ctx, {
    imageEnv: image.Config.Env ?? [],
    user: { spec: plan.user, unknownToImage: null, isConfined: false },
    network: plan.network ?? 'bridge',
    mounts: plan.mounts,
    serverUrl: ctx.jobEnv['SVC_URL'] ?? '',
    isRootless: false,
    hostMemoryBytes: os.totalmem(),
    amdGroups: [],
    logConfig: { Type: 'local', Config: { 'max-size': '128m', 'max-file': '8' } },
  });
}
