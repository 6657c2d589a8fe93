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
    description: 'A disk is low below this too, but not while more than half of it is free.',
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

/** `disk.free_gb` is of the agent's state directory; others have their mount point in the name. An agent names each disk once. */
const FREE = /^disk\.(?:(\/.*)\.)?free_gb$/;
const MAX_DISKS = 32;

interface Disk {
  sampledAt: number;
  readonly mean: MinuteMean;
  /** Free space by the minute, in GB, the newest last. */
  minutes: number[];
}

interface Memory {
  readonly options: Options;
  /** By mount point; '' is that of the agent's state directory. */
  readonly disks: Map<string, Disk>;
}

export const diskLow: Detector<typeof options, Memory> = {
  name: 'disk-low',
  of: 'node',
  takes: ['node_metrics'],
  finds: [
    {
      type: 'DISK_LOW',
      severity: 'warning',
      when: 'less than 5 % or less than 10 GB of a disk of a host are free (that of the state directory, of the working directory of a running job, or named by `svc agent --disk`), or it will be full in under an hour at the rate of the last minutes. Each at most once in 6 hours for a disk',
    },
  ],
  optionsSchema: options,
  cooldownS: 6 * 3_600,
  init: (given) => ({ options: given, disks: new Map() }),
  step(memory, input) {
    if (input.kind !== 'node_metrics') return { memory, findings: [] };
    const { at, values } = input;
    const over = forgetSilent(memory, at);
    const findings: Finding[] = [];
    for (const [name, free] of Object.entries(values)) {
      const [isFree, mount = ''] = FREE.exec(name) ?? [];
      if (isFree === undefined) continue;
      const disk = diskOf(memory, mount, at);
      if (disk === null) continue;
      note(disk, at, free);
      const total = values[name.replace(/free_gb$/, 'total_gb')];
      const low = findLow(memory.options, mount, free, total);
      const isClear = findLow(memory.options, mount, free / CLEAR_OF_LIMIT, total) === null;
      const soon = low ? null : findSoon(memory.options, disk.minutes, mount, free);
      findings.push(...[low, soon].filter((finding) => finding !== null));
      over.push(
        ...(isClear ? [troubleOf('low', mount)] : []),
        ...(soon ? [] : [troubleOf('forecast', mount)]),
      );
    }
    return { memory, findings, over };
  },
};

function diskOf({ disks }: Memory, mount: string, at: number): Disk | null {
  const known = disks.get(mount);
  if (known) return known;
  if (disks.size >= MAX_DISKS) return null;
  const disk: Disk = { sampledAt: at, mean: new MinuteMean(), minutes: [] };
  disks.set(mount, disk);
  return disk;
}

/** A disk that is measured no more, as the job that worked there has ended, has no trouble, and no rate when it comes again. */
function forgetSilent({ disks }: Memory, at: number): string[] {
  const silent = [...disks].filter(([, { sampledAt }]) => at - sampledAt > GAP_MS).map(([mount]) => mount);
  for (const mount of silent) disks.delete(mount);
  return silent.flatMap((mount) => [troubleOf('low', mount), troubleOf('forecast', mount)]);
}

function note(disk: Disk, at: number, free: number): void {
  disk.sampledAt = at;
  const ended = disk.mean.add(at, free);
  if (ended !== null) disk.minutes = [...disk.minutes, ended].slice(-MAX_MINUTES);
}

function troubleOf(kind: 'low' | 'forecast', mount: string): string {
  return mount === '' ? kind : `${kind}/${mount}`;
}

function findLow(
  { free_percent, free_gb }: Options,
  mount: string,
  free: number,
  total: number | undefined,
): Finding | null {
  const leastGb = Math.min(free_gb, (total ?? Infinity) / 2);
  if (free >= Math.max(leastGb, ((total ?? 0) * free_percent) / 100)) return null;
  const share = total ? ` (${((100 * free) / total).toFixed(1)} % of ${total.toFixed(0)} GB)` : '';
  return told('low', mount, `${free.toFixed(1)} GB of ${toName(mount)} are free${share}`, {
    free_gb: free,
    total_gb: total ?? null,
  });
}

/** The rate is the lower one of the two halves of the time, so that one large file says nothing. */
function findSoon(options: Options, minutes: readonly number[], mount: string, free: number): Finding | null {
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
    mount,
    `At this rate ${toName(mount)} is full in ${left} ${left === 1 ? 'minute' : 'minutes'}`,
    data,
  );
}

function toName(mount: string): string {
  return mount === '' ? 'the disk' : `the disk ${decode(mount)}`;
}

/** The name of a metric has unusual characters as a URL has them. */
function decode(mount: string): string {
  try {
    return decodeURIComponent(mount);
  } catch {
    return mount;
  }
}

function told(
  kind: 'low' | 'forecast',
  mount: string,
  title: string,
  data: Record<string, unknown>,
): Finding {
  const message = 'Jobs that write checkpoints or logs there will fail when it is full.';
  const about = mount === '' ? data : { ...data, mount: decode(mount) };
  return {
    fingerprint: troubleOf(kind, mount),
    type: 'DISK_LOW',
    severity: 'warning',
    title,
    message,
    data: about,
  };
}
