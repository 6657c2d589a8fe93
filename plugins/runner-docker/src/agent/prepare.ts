import { DispatchFailed, toReason, type RunContext } from '@svc/agent';
import type Docker from 'dockerode';
import { appendFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import os from 'node:os';
import type { DockerPlan, Mount } from '../spec.js';
import { isAmd, toContainerConfig } from './container-config.js';
import type { Images } from './image.js';
import { allowMounts, allowWorkingDir, ensureFiles, type MountRules } from './mounts.js';
import type { DockerSettings } from './options.js';
import type { Relays } from './server-relay.js';
import { chooseUser, type ContainerUser } from './user.js';

/** What the containers of an agent have in common. */
export interface ContainerHost {
  readonly engine: { readonly socket: string; client(): Promise<Docker> };
  readonly settings: DockerSettings;
  readonly images: Images;
  readonly relays: Relays;
}

/** On the disk of the engine, which a container fills at most so far; it never waits for a reader. Podman has one driver that can be read, and bounds it likewise. */
const LOG_CONFIG = { Type: 'local', Config: { 'max-size': '128m', 'max-file': '8' } };
const PODMAN_LOG_CONFIG = { Type: 'k8s-file', Config: { 'max-size': '1gb' } };

/** What the engine says of itself. */
interface EngineFacts {
  readonly isRootless: boolean;
  readonly logConfig: typeof LOG_CONFIG | typeof PODMAN_LOG_CONFIG;
  readonly hostMemoryBytes: number;
}

/**
 * Brings what the container of an attempt needs to the host, and says what the engine is to create. Lines about a pull of the image go to `ctx.paths.stderr`. Throws
 * DispatchFailed with what the host does not have or does not allow; rejects when the attempt is stopped or the agent closes.
 */
export async function prepareContainer(
  plan: DockerPlan,
  ctx: RunContext<unknown>,
  { engine, settings, images, relays }: ContainerHost,
): Promise<Docker.ContainerCreateOptions> {
  const network = allowNetwork(plan, ctx, settings);
  const facts = await askEngine(await engine.client());
  const user = chooseUserOf(plan, ctx, settings, facts);
  const mounts = await allowAll(plan, ctx, user, {
    allowedMounts: settings.allowedMounts,
    socket: engine.socket,
    nodeName: ctx.node.name,
    attemptDir: ctx.paths.dir,
  });
  const image = await images.ensure({
    image: plan.image,
    policy: plan.pull ?? settings.pull,
    nodeName: ctx.node.name,
    signal: AbortSignal.any([ctx.stopping, ctx.signal]),
    tell: (line) => tellInLog(ctx, line),
  });
  return toContainerConfig(plan, ctx, {
    ...facts,
    user,
    mounts,
    network,
    imageEnv: image.env,
    serverUrl: await relays.addressOn(network, ctx.jobEnv['SVC_URL'] ?? ''),
    amdGroups: ctx.gpus.some(isAmd) ? await findAmdGroups() : [],
  });
}

/** Must hold: the line is in the file before the container starts, as the log of that is counted from there. */
function tellInLog({ paths, log }: RunContext<unknown>, line: string): void {
  try {
    appendFileSync(paths.stderr, `${line}\n`, { mode: 0o600 });
  } catch (error) {
    log.warn('the log of a job takes no line', { file: paths.stderr, reason: toReason(error) });
  }
}

function allowNetwork(
  { network }: DockerPlan,
  { node }: RunContext<unknown>,
  settings: DockerSettings,
): string {
  const { allowedNetworks } = settings;
  const wanted = network ?? allowedNetworks[0] ?? 'none';
  if (allowedNetworks.includes(wanted)) return wanted;
  const line = `runnerDocker({ allowedNetworks: [${[...allowedNetworks, wanted].map((name) => `'${name}'`).join(', ')}] })`;
  throw new DispatchFailed(
    `the network ${wanted} is not one that the agent on ${node.name} allows containers (${allowedNetworks.join(', ')}). To allow it, write ${line} in svc.agent.config.ts there`,
  );
}

async function askEngine(client: Docker): Promise<EngineFacts> {
  const { SecurityOptions, MemTotal, Plugins } = (await client.info()) as {
    readonly SecurityOptions?: readonly string[] | null;
    readonly MemTotal?: number;
    readonly Plugins?: { readonly Log?: readonly string[] | null };
  };
  const isRootless = SecurityOptions?.some((option) => option.includes('rootless')) ?? false;
  const logConfig = Plugins?.Log?.includes(LOG_CONFIG.Type) === false ? PODMAN_LOG_CONFIG : LOG_CONFIG;
  return { isRootless, logConfig, hostMemoryBytes: MemTotal ?? os.totalmem() };
}

function chooseUserOf(
  { user: wanted }: DockerPlan,
  { user: jobUser, node }: RunContext<unknown>,
  { allowAnyUser }: DockerSettings,
  { isRootless }: EngineFacts,
): ContainerUser {
  const { username: name, uid, gid } = os.userInfo();
  return chooseUser({
    wanted,
    jobUser,
    agent: { name, uid, gid },
    isRootless,
    allowAnyUser,
    nodeName: node.name,
  });
}

async function allowAll(
  { mounts }: DockerPlan,
  { workingDir, paths, files }: RunContext<unknown>,
  { isConfined }: ContainerUser,
  rules: MountRules,
): Promise<Mount[]> {
  const own = workingDir === paths.work ? [] : [await allowWorkingDir(workingDir, isConfined, rules)];
  const allowed = await allowMounts(mounts, rules);
  await ensureFiles(files);
  return [...own, ...allowed];
}

/** Of the devices, as numbers: the image may not know their names. */
async function findAmdGroups(): Promise<string[]> {
  try {
    const devices = await Promise.all(['/dev/kfd', '/dev/dri/renderD128'].map((device) => stat(device)));
    return [...new Set(devices.map(({ gid }) => String(gid)))];
  } catch (error) {
    throw new DispatchFailed(`the devices of the AMD GPUs are not there: ${toReason(error)}`);
  }
}
