import type { HostSlot, RunContext } from '@svc/agent';
import type { ContainerCreateOptions, DeviceRequest, HostConfig } from 'dockerode';
import type { DockerPlan, Mount } from '../spec.js';
import type { ContainerUser } from './user.js';

const MIB = 1024 * 1024;
/** DataLoader workers and NCCL pass tensors through /dev/shm; the 64 MiB of the engine end them with a bus error. */
const SHM_BYTES = 8192 * MIB;
/** As NVIDIA recommends for its images: pinned memory without a limit, and a larger stack. */
const ULIMITS = [
  { Name: 'memlock', Soft: -1, Hard: -1 },
  { Name: 'stack', Soft: 64 * MIB, Hard: 64 * MIB },
];
/** By these labels the containers of an attempt are found again. */
export const LABELS = { node: 'svc.node_id', job: 'svc.job_id', attempt: 'svc.attempt' } as const;

/** What the host, its engine and its agent add to a plan. */
export interface ContainerParts {
  /** The variables of the image, as NAME=VALUE. */
  readonly imageEnv: readonly string[];
  readonly user: ContainerUser;
  readonly network: string;
  /** Those of the job, checked. */
  readonly mounts: readonly Mount[];
  /** The server as the container reaches it. */
  readonly serverUrl: string;
  readonly isRootless: boolean;
  readonly hostMemoryBytes: number;
  /** To which the device files of its GPUs belong, as numbers. */
  readonly deviceGroups: readonly string[];
  /** Processes and threads at most; null: the engine cannot limit them. */
  readonly maxThreads: number | null;
  readonly logConfig: HostConfig['LogConfig'];
}

type Context = Pick<
  RunContext<unknown>,
  'job_id' | 'attempt' | 'node' | 'jobEnv' | 'workingDir' | 'paths' | 'gpus' | 'files' | 'reads'
>;

/** What the engine is asked to create for an attempt. Must hold: the values of variables are in `Env` and nowhere else. */
export function toContainerConfig(
  plan: DockerPlan,
  ctx: Context,
  parts: ContainerParts,
): ContainerCreateOptions {
  return {
    Image: plan.image,
    Cmd: [...plan.command],
    // An empty word is how the API says that there is none.
    ...(plan.entrypoint !== null && {
      Entrypoint: plan.entrypoint.length === 0 ? [''] : [...plan.entrypoint],
    }),
    Env: Object.entries(toEnv(plan, ctx, parts)).map(([name, value]) => `${name}=${value}`),
    WorkingDir: plan.working_dir ?? ctx.workingDir,
    ...(parts.user.spec !== null && { User: parts.user.spec }),
    Labels: {
      [LABELS.node]: ctx.node.id,
      [LABELS.job]: ctx.job_id,
      [LABELS.attempt]: String(ctx.attempt),
    },
    Tty: false,
    OpenStdin: false,
    HostConfig: toHostConfig(plan, ctx, parts),
  };
}

function toHostConfig(plan: DockerPlan, ctx: Context, parts: ContainerParts): HostConfig {
  const memory = plan.memory_mb === null ? null : plan.memory_mb * MIB;
  return {
    Init: true,
    Mounts: toMounts(ctx, parts).map(({ source, target, read_only }) => ({
      Type: 'bind',
      Source: source,
      Target: target,
      ReadOnly: read_only,
    })),
    ShmSize: toShmBytes(plan, parts.hostMemoryBytes),
    // As much swap as memory in the sum: none.
    ...(memory !== null && { Memory: memory, MemorySwap: memory }),
    ...(plan.cpus !== null && { NanoCpus: Math.round(plan.cpus * 1e9) }),
    NetworkMode: parts.network,
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    // Without root nobody may raise them, nor may every engine that runs in a container: only where they are needed.
    ...(!parts.isRootless && ctx.gpus.some(({ virtual }) => !virtual) && { Ulimits: ULIMITS }),
    LogConfig: parts.logConfig,
    ...(parts.maxThreads !== null && { PidsLimit: parts.maxThreads }),
    ...toGpuConfig(ctx.gpus, parts.deviceGroups),
  };
}

/** At the paths that they have on the host: what a training tells of its files holds there too. */
function toMounts({ paths, workingDir, files, reads }: Context, { mounts }: ContainerParts): Mount[] {
  const same = (place: string, read_only: boolean): Mount => ({ source: place, target: place, read_only });
  const work = workingDir === paths.work ? [same(paths.work, false)] : [];
  const own = [...work, same(paths.spool, false), ...files.map((file) => same(file, false))];
  return [...own, ...reads.map((place) => same(place, true)), ...mounts];
}

function toShmBytes({ shm_size_mb }: DockerPlan, hostMemoryBytes: number): number {
  return shm_size_mb === null ? Math.min(SHM_BYTES, Math.floor(hostMemoryBytes / 2)) : shm_size_mb * MIB;
}

function toEnv(
  { mounts }: DockerPlan,
  ctx: Context,
  { imageEnv, user, serverUrl }: ContainerParts,
): Record<string, string> {
  const { jobEnv, gpus } = ctx;
  const nvidia = gpus.filter(isNvidia);
  return {
    ...(user.unknownToImage !== null && toUserEnv(ctx, user.unknownToImage.name)),
    ...jobEnv,
    ...toPythonPath(jobEnv['PYTHONPATH'], imageEnv),
    SVC_URL: serverUrl,
    ...(mounts.length > 0 && { SVC_PATH_MAP: toPathMap(mounts, ctx) }),
    // The engine shows the container its own devices alone, which count from 0 there.
    ...(nvidia.length > 0 && { CUDA_VISIBLE_DEVICES: nvidia.map((_, index) => index).join(',') }),
    // Images name all GPUs here, and an engine whose default is NVIDIA's runtime would give them.
    NVIDIA_VISIBLE_DEVICES: nvidia.length === 0 ? 'void' : nvidia.map(({ uuid }) => uuid).join(','),
  };
}

/** Programs ask the system for their user's name and home, and end when there is neither an entry nor a variable. */
function toUserEnv({ workingDir, paths }: Context, name: string): Record<string, string> {
  const HOME = workingDir === paths.work ? paths.work : '/tmp';
  return { HOME, USER: name, LOGNAME: name };
}

/** By it the SDK tells of files with the paths that they have on the host. */
function toPathMap(mounts: readonly Mount[], { workingDir }: Context): string {
  const moved = mounts.map(({ source, target }) => [target, source]);
  return JSON.stringify(Object.fromEntries([...moved, [workingDir, workingDir]]));
}

/** The modules of the image stay to be found behind those of the job. */
function toPythonPath(ofJob: string | undefined, imageEnv: readonly string[]): Record<string, string> {
  if (ofJob === undefined) return {};
  const ofImage = imageEnv.find((entry) => entry.startsWith('PYTHONPATH='))?.slice('PYTHONPATH='.length);
  return { PYTHONPATH: ofImage ? `${ofJob}:${ofImage}` : ofJob };
}

function toGpuConfig(gpus: readonly HostSlot[], deviceGroups: readonly string[]): Partial<HostConfig> {
  const nvidia = gpus.filter(isNvidia);
  const devices = toDevices(gpus);
  return {
    ...(nvidia.length > 0 && { DeviceRequests: [toDeviceRequest(nvidia)] }),
    ...(devices.length > 0 && {
      Devices: devices.map((device) => ({
        PathOnHost: device,
        PathInContainer: device,
        CgroupPermissions: 'rwm',
      })),
      GroupAdd: [...deviceGroups],
    }),
  };
}

function toDeviceRequest(gpus: readonly HostSlot[]): DeviceRequest {
  return {
    Driver: '',
    Count: 0,
    DeviceIDs: gpus.map(({ uuid }) => uuid),
    Capabilities: [['gpu']],
    Options: {},
  };
}

/** A whole GPU, or an instance of one that is divided (MIG). */
export function isNvidia({ uuid, virtual }: HostSlot): boolean {
  return !virtual && /^(GPU|MIG)-/.test(uuid);
}

/** Those that the host gives to a container by their files. */
export function toDevices(gpus: readonly HostSlot[]): string[] {
  return [...new Set(gpus.flatMap(({ devices = [] }) => devices))];
}
