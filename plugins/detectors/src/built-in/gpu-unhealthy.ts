import { strict, type Detector, type Finding } from '@svc/contract';
import { Type } from 'typebox';
import { MinuteMean } from './minute-mean.js';
import { SlotTroubles } from './slot-troubles.js';
import { XIDS } from './xid-catalog.js';

const options = strict({
  silent_s: Type.Number({
    minimum: 30,
    default: 180,
    description: 'A GPU has gone when it gives no figures for this time while its host does.',
  }),
  throttled_minutes: Type.Integer({
    minimum: 1,
    maximum: 60,
    default: 5,
    description: 'A GPU is throttled when its hardware slows it down for most of so many minutes in a row.',
  }),
});

const FIGURE = /^gpu\.(\d+)\.(util|ecc_uncorrected|throttled|xid)$/;
const MAX_GPUS = 64;
/** A host that was silent itself says nothing of its GPUs. */
const GAP_MS = 60_000;

interface Gpu {
  seenAt: number;
  /** Errors of its memory that were not corrected, as it counts them itself. */
  errors: number | null;
  readonly throttled: MinuteMean;
  throttledMinutes: number;
  /** The error of its last sample. */
  xid: number | null;
}

interface Memory {
  readonly options: { readonly silent_s: number; readonly throttled_minutes: number };
  sampledAt: number;
  readonly gpus: Map<string, Gpu>;
  readonly slots: SlotTroubles;
}

/** What a GPU reports of itself. */
export const gpuUnhealthy: Detector<typeof options, Memory> = {
  name: 'gpu-unhealthy',
  of: 'node',
  takes: ['node_metrics', 'node', 'tick'],
  finds: [
    {
      type: 'GPU_UNHEALTHY',
      severity: 'critical',
      when: 'a GPU has a further uncorrected error of its memory (ECC), or gives no figures any more while its host does, or its driver reports an error (Xid) after which it must be reset',
    },
    {
      type: 'GPU_UNHEALTHY',
      severity: 'critical',
      when: 'the agent says for 30 s that a GPU is unhealthy: it is lost, or nobody can tell how it does',
    },
    {
      type: 'GPU_UNHEALTHY',
      severity: 'warning',
      when: 'a GPU is still taken 30 s after the end of its job: it is quarantined until it is free',
    },
    {
      type: 'GPU_UNHEALTHY',
      severity: 'info',
      when: 'a GPU that was told to be quarantined or unhealthy takes jobs again',
    },
    {
      type: 'GPU_UNHEALTHY',
      severity: 'warning',
      when: 'the hardware slows a GPU down, because of heat or power, for most of 5 minutes, or its driver reports an error (Xid) that announces worse. Each at most once in 6 hours for a GPU',
    },
  ],
  optionsSchema: options,
  cooldownS: 6 * 3_600,
  init: (given) => ({ options: given, sampledAt: 0, gpus: new Map(), slots: new SlotTroubles() }),
  step(memory, input) {
    const { at } = input;
    const { slots } = memory;
    if (input.kind === 'node') return { memory, ...slots.see(input.node, at) };
    if (input.kind !== 'node_metrics') return { memory, ...slots.due(at) };
    if (at - memory.sampledAt > GAP_MS) for (const gpu of memory.gpus.values()) gpu.seenAt = at;
    memory.sampledAt = at;
    const findings: Finding[] = [];
    const over: string[] = [];
    for (const [name, value] of Object.entries(input.values)) {
      const [, index = '', figure] = FIGURE.exec(name) ?? [];
      const gpu = figure === undefined ? null : gpuOf(memory, index, at);
      if (gpu === null) continue;
      // An error is no sign of life.
      if (figure === 'xid') findings.push(...seeXid(gpu, index, value));
      else gpu.seenAt = at;
      if (figure === 'ecc_uncorrected') findings.push(...seeErrors(gpu, index, value, over));
      if (figure === 'throttled') findings.push(...seeThrottled(gpu, index, at, value, memory.options, over));
    }
    for (const [index, gpu] of memory.gpus) {
      over.push(...xidOver(gpu, index, input.values));
      const { seenAt } = gpu;
      const isGone = at - seenAt > memory.options.silent_s * 1000;
      // An agent that tells of the health of its slots has said it already, and knows why.
      if (isGone && !slots.has(index)) findings.push(gone(index, at - seenAt));
      else if (!isGone) over.push(`gone/${index}`);
    }
    return { memory, findings, over };
  },
};

function gpuOf({ gpus }: Memory, index: string, at: number): Gpu | null {
  const known = gpus.get(index);
  if (known) return known;
  if (gpus.size >= MAX_GPUS) return null;
  const gpu: Gpu = { seenAt: at, errors: null, throttled: new MinuteMean(), throttledMinutes: 0, xid: null };
  gpus.set(index, gpu);
  return gpu;
}

/** The number that it has at first is from before; it falls when the driver is loaded again. */
function seeErrors(gpu: Gpu, index: string, errors: number, over: string[]): Finding[] {
  const more = gpu.errors === null ? 0 : errors - gpu.errors;
  gpu.errors = errors;
  if (more <= 0) {
    over.push(`ecc/${index}`);
    return [];
  }
  const title = `GPU ${index} has ${more} further uncorrected memory ${more === 1 ? 'error' : 'errors'}`;
  const message = 'Drain the node and reset the GPU: what a job computed there may be wrong.';
  return [told(`ecc/${index}`, 'critical', title, message, { gpu: Number(index), errors })];
}

function seeXid(gpu: Gpu, index: string, code: number): Finding[] {
  const xid = XIDS.get(code);
  if (xid === undefined) return [];
  gpu.xid = code;
  const title = `GPU ${index} reports Xid ${code}: ${xid.meaning}`;
  const message =
    xid.severity === 'critical'
      ? 'Drain the node, look at its kernel log, and reset the GPU or restart the host before it computes again.'
      : 'Look at the kernel log of the host. Reset the GPU when its job has ended.';
  return [told(xidOf(index, code), xid.severity, title, message, { gpu: Number(index), xid: code })];
}

/** An error is a moment: the same one is told again when it comes after the cool-down. */
function xidOver(gpu: Gpu, index: string, values: Readonly<Record<string, number>>): string[] {
  if (gpu.xid === null || values[`gpu.${index}.xid`] === gpu.xid) return [];
  const over = xidOf(index, gpu.xid);
  gpu.xid = null;
  return [over];
}

function xidOf(index: string, code: number): string {
  return `xid/${index}/${code}`;
}

function seeThrottled(
  gpu: Gpu,
  index: string,
  at: number,
  value: number,
  { throttled_minutes }: Memory['options'],
  over: string[],
): Finding[] {
  const share = gpu.throttled.add(at, value);
  if (share === null) return [];
  gpu.throttledMinutes = share > 0.5 ? gpu.throttledMinutes + 1 : 0;
  if (gpu.throttledMinutes === 0) over.push(`throttled/${index}`);
  if (gpu.throttledMinutes < throttled_minutes) return [];
  const message =
    'Its hardware lowers the clocks because of heat or power: look at the cooling and the power supply.';
  return [
    told(`throttled/${index}`, 'warning', `GPU ${index} is throttled`, message, { gpu: Number(index) }),
  ];
}

function gone(index: string, silentMs: number): Finding {
  const title = `GPU ${index} gives no figures any more`;
  const message = `None for ${Math.round(silentMs / 1000)} s, while its host gives others: the driver may have lost it.`;
  return told(`gone/${index}`, 'critical', title, message, { gpu: Number(index) });
}

function told(
  fingerprint: string,
  severity: 'warning' | 'critical',
  title: string,
  message: string,
  data: Record<string, unknown>,
): Finding {
  return { fingerprint, type: 'GPU_UNHEALTHY', severity, title, message, data };
}
