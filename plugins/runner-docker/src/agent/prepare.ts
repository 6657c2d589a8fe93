import { DispatchFailed, toReason, type RunContext } from '@svc/agent';
import type Docker from 'dockerode';
import { appendFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DockerPlan, Mount } from '../spec.js';
import { agentUser } from './agent-user.js';
import { toContainerConfig, toDevices } from './container-config.js';
import type { HeldMounts, MountHolder } from './held-mounts.js';
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
  /** null: an agent without root cannot hold them. */
  readonly holder: MountHolder | null;
}

/** What the engine is to create. */
export interface Prepared {
  readonly options: Docker.ContainerCreateOptions;
  /** To be called once the container has started or cannot be started. */
  release(): Promise<void>;
}

/** On the disk of the engine, which a container fills at most so far; it never waits for a reader. Podman has one driver that can be read, and bounds it likewise. */
const LOG_CONFIG = { Type: 'local', Config: { 'max-size': '128m', 'max-file': '8' } };
const PODMAN_LOG_CONFIG = { Type: 'k8s-file', Config: { 'max-size': '1gb' } };

/** Training with many GPUs, workers and threads of OpenMP needs tens of thousands; Podman's own limit of 2048 ends it. */
const MAX_THREADS = 65_536;

/** What the engine says of itself. */
interface EngineFacts {
  readonly isRootless: boolean;
  readonly logConfig: typeof LOG_CONFIG | typeof PODMAN_LOG_CONFIG;
  readonly hostMemoryBytes: number;
  readonly maxThreads: number | null;
}

/**
 * Brings what the container of an attempt needs to the host, and says what the engine is to create. Lines about a pull of the image go to `ctx.paths.stderr`. Throws
 * DispatchFailed with what the host does not have or does not allow; rejects when the attempt is stopped or the agent closes.
 */
export async function prepareContainer(
  plan: DockerPlan,
  ctx: RunContext<unknown>,
  { engine, settings, images, relays, holder }: ContainerHost,
): Promise<Prepared> {
  const network = allowNetwork(plan, ctx, settings);
  const facts = await askEngine(await engine.client());
  const user = chooseUserOf(plan, ctx, settings, facts);
  const rules = {
    allowedMounts: settings.allowedMounts,
    socket: engine.socket,
    nodeName: ctx.node.name,
    attemptDir: ctx.paths.dir,
  };
  // Before the image is pulled for nothing.
  await allowAll(plan, ctx, user, rules);
  const image = await images.ensure({
    image: plan.image,
    policy: plan.pull ?? settings.pull,
    nodeName: ctx.node.name,
    signal: AbortSignal.any([ctx.stopping, ctx.signal]),
    tell: (line) => tellInLog(ctx, line),
  });
  const serverUrl = await relays.addressOn(network, ctx.jobEnv['SVC_URL'] ?? '');
  const deviceGroups = await findGroups(toDevices(ctx.gpus));
  // Must hold: last, as a job may have exchanged a directory during the pull.
  const allowed = await allowAll(plan, ctx, user, rules);
  // An engine without root has no more rights than its user, and does not reach the places of root.
  const { mounts, release } =
    holder === null || facts.isRootless ? notHeld(allowed) : await holder.hold(allowed, ctx.node.name);
  const parts = { ...facts, user, mounts, network, imageEnv: image.env, serverUrl, deviceGroups };
  return { options: toContainerConfig(plan, ctx, parts), release };
}

function notHeld(mounts: readonly Mount[]): HeldMounts {
  return { mounts, release: async () => {} };
}

/** Must hold: the line is in the file before the container starts, as the log of that is counted from there. */
export function tellInLog({ paths, log }: RunContext<unknown>, line: string): void {
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
    `the network ${wanted} is not one that the agent on ${node.name} allows containers (${allowedNetworks.join(', ')}). To allow it, write ${line} in the configuration file of that agent (see docs/runners.md), and restart it; running jobs continue`,
  );
}

async function askEngine(client: Docker): Promise<EngineFacts> {
  const { SecurityOptions, MemTotal, Plugins, PidsLimit } = (await client.info()) as {
    readonly SecurityOptions?: readonly string[] | null;
    readonly MemTotal?: number;
    /** Whether it can limit them. */
    readonly PidsLimit?: boolean;
    readonly Plugins?: { readonly Log?: readonly string[] | null };
  };
  const isRootless = SecurityOptions?.some((option) => option.includes('rootless')) ?? false;
  const logConfig = Plugins?.Log?.includes(LOG_CONFIG.Type) === false ? PODMAN_LOG_CONFIG : LOG_CONFIG;
  const maxThreads = PidsLimit === true ? await findMaxThreads() : null;
  return { isRootless, logConfig, hostMemoryBytes: MemTotal ?? os.totalmem(), maxThreads };
}

function chooseUserOf(
  { user: wanted }: DockerPlan,
  { user: jobUser, node }: RunContext<unknown>,
  { allowAnyUser }: DockerSettings,
  { isRootless }: EngineFacts,
): ContainerUser {
  return chooseUser({
    wanted,
    jobUser,
    agent: agentUser(),
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

/** What a job that starts processes without end leaves to the host. */
async function findMaxThreads(): Promise<number> {
  const ofHost = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8').catch(() => NaN));
  return Number.isNaN(ofHost) ? MAX_THREADS : Math.min(MAX_THREADS, Math.floor(ofHost / 2));
}

/** Of these device files, and of those in these directories, as numbers: the image may not know their names. */
async function findGroups(devices: readonly string[]): Promise<string[]> {
  try {
    const files = (await Promise.all(devices.map(toFiles))).flat();
    const found = await Promise.all(files.map((file) => stat(file)));
    const isDevice = (each: Awaited<ReturnType<typeof stat>>) => each.isCharacterDevice();
    return [...new Set(found.filter(isDevice).map(({ gid }) => String(gid)))];
  } catch (error) {
    throw new DispatchFailed(`the devices of its GPUs cannot be given to a container: ${toReason(error)}`);
  }
}

async function toFiles(device: string): Promise<string[]> {
  if (!(await stat(device)).isDirectory()) return [device];
  return (await readdir(device)).map((name) => path.join(device, name));
}
