import { BootError } from '@svc/agent';

/** `gpuNvidia({ ... })` in svc.agent.config.ts. */
export interface GpuNvidiaOptions {
  /** The program, or its path. Left out: nvidia-smi. */
  readonly nvidiaSmi?: string;
  /** Whether a GPU takes no job while processes that are of no job of svc use it (skip), or is given to jobs all the same (ignore). Left out: skip. */
  readonly foreign?: 'skip' | 'ignore';
  /** Such processes count from this much memory of a GPU on, all together, in MiB. Left out: 100. */
  readonly foreignMb?: number;
  /** So much memory of a GPU may be in use by nobody who can be seen, as by the driver itself, in MiB. Left out: 1024. */
  readonly unexplainedMb?: number;
  /** How often the GPUs are asked, in seconds. Left out: 2. */
  readonly intervalS?: number;
  /** A GPU is unhealthy when nvidia-smi has not answered for so long, in seconds. Left out: 15. */
  readonly silentS?: number;
  /** For so long the end of an attempt waits for the proof that its GPUs are free, in seconds. Left out: 3. */
  readonly proofS?: number;
  /** nvidia-smi is started again so long after it has ended or was not there, in seconds. Left out: 30. */
  readonly restartS?: number;
  /** The log of the kernel. Left out: /dev/kmsg. */
  readonly kernelLog?: string;
}

/** Those of `GpuNvidiaOptions`, with their defaults. */
export type Settings = Required<GpuNvidiaOptions>;

const DEFAULTS: Settings = {
  nvidiaSmi: 'nvidia-smi',
  foreign: 'skip',
  foreignMb: 100,
  unexplainedMb: 1024,
  intervalS: 2,
  silentS: 15,
  proofS: 3,
  restartS: 30,
  kernelLog: '/dev/kmsg',
};

/** Throws BootError. */
export function toSettings(options: GpuNvidiaOptions): Settings {
  const refuse = (flaw: string) => {
    throw new BootError(`plugin "gpu-nvidia", option ${flaw}`);
  };
  for (const name of Object.keys(options))
    if (!Object.hasOwn(DEFAULTS, name))
      refuse(`"${name}" is unknown; there are ${Object.keys(DEFAULTS).join(', ')}`);
  const settings = { ...DEFAULTS, ...options };
  for (const [name, value] of Object.entries(settings))
    if (typeof value === 'number' ? !(value >= 0) : typeof value !== 'string')
      refuse(
        `${name} must be ${typeof DEFAULTS[name as keyof Settings] === 'number' ? 'a number that is not negative' : 'a text'}`,
      );
  if (settings.foreign !== 'skip' && settings.foreign !== 'ignore') refuse('foreign must be skip or ignore');
  if (settings.intervalS < 0.1 || settings.silentS < 2 * settings.intervalS)
    refuse('intervalS must be at least 0.1, and silentS at least twice that');
  return settings;
}
