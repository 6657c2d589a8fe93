import { strict, type Detector, type Finding } from '@svc/contract';
import { Type } from 'typebox';
import { MinuteMean } from './minute-mean.js';

const options = strict({
  free_percent: Type.Number({
    minimum: 0,
    maximum: 100,
    default: 5,
    description: 'A disk is low below this part of its size.',
  }),
  free_gb: Type.Number({
    minimum: 0,
    default: 10,
    description: 'A disk is low below this, whatever its size.',
  }),
  full_in_s: Type.Number({
    minimum: 0,
    default: 3_600,
    description:
      'It is told when the disk will be full in less time at the rate of the last 10 to 30 minutes; 0: never.',
  }),
});
type Options = { readonly free_percent: number; readonly free_gb: number; readonly full_in_s: number };

/** Trouble is over when there is so much more than the limit. */
const CLEAR_OF_LIMIT = 1.1;
const MIN_MINUTES = 10;
const MAX_MINUTES = 30;
const GAP_MS = 5 * 60_000;

interface Memory {
  readonly options: Options;
  sampledAt: number;
  mean: MinuteMean;
  /** Free space by the minute, in GB, the newest last. */
  minutes: number[];
}

export const diskLow: Detector<typeof options, Memory> = {
  name: 'disk-low',
  of: 'node',
  takes: ['node_metrics'],
  finds: [
    {
      type: 'DISK_LOW',
      severity: 'warning',
      when: 'less than 5 % or less than 10 GB of a disk are free, or it will be full in under an hour at the rate of the last minutes. Each at most once in 6 hours for a node',
    },
  ],
  optionsSchema: options,
  cooldownS: 6 * 3_600,
  init: (given) => ({ options: given, sampledAt: 0, mean: new MinuteMean(), minutes: [] }),
  step(memory, input) {
    if (input.kind !== 'node_metrics') return { memory, findings: [] };
    const [free, total] = [input.values['disk.free_gb'], input.values['disk.total_gb']];
    if (free === undefined) return { memory, findings: [] };
    if (input.at - memory.sampledAt > GAP_MS) [memory.mean, memory.minutes] = [new MinuteMean(), []];
    memory.sampledAt = input.at;
    const ended = memory.mean.add(input.at, free);
    if (ended !== null) memory.minutes = [...memory.minutes, ended].slice(-MAX_MINUTES);
    const low = findLow(memory.options, free, total);
    const isClear = findLow(memory.options, free / CLEAR_OF_LIMIT, total) === null;
    const soon = low ? null : findSoon(memory, free);
    const findings = [low, soon].filter((finding) => finding !== null);
    return { memory, findings, over: [...(isClear ? ['low'] : []), ...(soon ? [] : ['forecast'])] };
  },
};

function findLow(
  { free_percent, free_gb }: Options,
  free: number,
  total: number | undefined,
): Finding | null {
  if (free >= Math.max(free_gb, ((total ?? 0) * free_percent) / 100)) return null;
  const share = total ? ` (${((100 * free) / total).toFixed(1)} % of ${total.toFixed(0)} GB)` : '';
  return told('low', `${free.toFixed(1)} GB of the disk are free${share}`, {
    free_gb: free,
    total_gb: total ?? null,
  });
}

/** The rate is the lower one of the two halves of the time, so that one large file says nothing. */
function findSoon({ minutes, options }: Memory, free: number): Finding | null {
  if (minutes.length < MIN_MINUTES || options.full_in_s === 0) return null;
  const half = (minutes.length - 1) / 2;
  const [first, last] = [minutes[0] as number, minutes.at(-1) as number];
  const [before, after] = [minutes[Math.floor(half)] as number, minutes[Math.ceil(half)] as number];
  const perMinute = Math.min(first - before, after - last) / Math.floor(half);
  if (perMinute <= 0 || (free / perMinute) * 60 >= options.full_in_s) return null;
  const left = Math.max(1, Math.round(free / perMinute));
  const data = { free_gb: free, gb_per_minute: perMinute, full_in_s: Math.round((free / perMinute) * 60) };
  return told(
    'forecast',
    `At this rate the disk is full in ${left} ${left === 1 ? 'minute' : 'minutes'}`,
    data,
  );
}

function told(fingerprint: string, title: string, data: Record<string, unknown>): Finding {
  const message = 'Jobs that write checkpoints or logs there will fail when it is full.';
  return { fingerprint, type: 'DISK_LOW', severity: 'warning', title, message, data };
}
