import { strict, type Detector, type WatchedJob } from '@svc/contract';
import { Type } from 'typebox';
import { MinuteMean } from './minute-mean.js';

const options = strict({
  util_percent: Type.Number({
    minimum: 0,
    maximum: 100,
    default: 10,
    description: 'A GPU is idle while its mean utilization over a minute is below this.',
  }),
});

/** Without samples for so long nothing is known. */
const GAP_MS = 3 * 60_000;
const FINGERPRINT = 'idle';

interface Memory {
  readonly options: { readonly util_percent: number };
  job: WatchedJob | null;
  sampledAt: number;
  means: Map<number, MinuteMean>;
  /** The GPUs that were idle in their last minute. */
  idle: Set<number>;
}

export const gpuUnderutilized: Detector<typeof options, Memory> = {
  name: 'gpu-underutilized',
  of: 'attempt',
  takes: ['job', 'node_metrics'],
  finds: [
    {
      type: 'GPU_UNDERUTILIZED',
      severity: 'warning',
      when: 'a GPU of a running job is used less than 10 % for 10 minutes. At most once in 6 hours for an attempt',
    },
  ],
  optionsSchema: options,
  holdS: 600,
  cooldownS: 6 * 3_600,
  init: (given) => ({ options: given, job: null, sampledAt: 0, means: new Map(), idle: new Set() }),
  step(memory, input) {
    if (input.kind === 'job') {
      memory.job = input.job.status === 'RUNNING' ? input.job : null;
      return memory.job ? { memory, findings: [] } : forget(memory);
    }
    if (input.kind !== 'node_metrics' || memory.job === null) return { memory, findings: [] };
    const over = input.at - memory.sampledAt > GAP_MS ? forget(memory).over : [];
    memory.sampledAt = input.at;
    for (const index of memory.job.gpu_indices)
      measure(memory, index, input.at, input.values[`gpu.${index}.util`]);
    if (memory.idle.size === 0) return { memory, findings: [], over: [FINGERPRINT] };
    const gpus = [...memory.idle].sort((a, b) => a - b);
    const finding = {
      fingerprint: FINGERPRINT,
      type: 'GPU_UNDERUTILIZED',
      severity: 'warning' as const,
      title: `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(', ')} of the job: hardly used`,
      message: `Utilization has been below ${memory.options.util_percent} % for some time.`,
      data: { gpus, node_id: input.node_id },
    };
    return { memory, findings: [finding], over };
  },
};

function measure(memory: Memory, index: number, at: number, util: number | undefined): void {
  if (util === undefined) return;
  const mean = memory.means.get(index) ?? new MinuteMean();
  memory.means.set(index, mean);
  const ended = mean.add(at, util);
  if (ended === null) return;
  if (ended < memory.options.util_percent) memory.idle.add(index);
  else memory.idle.delete(index);
}

function forget(memory: Memory) {
  memory.means = new Map();
  memory.idle = new Set();
  return { memory, findings: [], over: [FINGERPRINT] };
}
