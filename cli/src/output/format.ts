import type { MetricValue } from '@svc/contract';

const UNITS: readonly (readonly [ms: number, letter: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

const SIZE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** `4s`, `3m 20s`, `2h 5m`, `9d 1h`: the two largest units. */
export function toDuration(durationMs: number): string {
  const first = UNITS.findIndex(([ms]) => durationMs >= ms);
  if (first === -1) return '0s';
  let rest = durationMs;
  const parts = UNITS.slice(first, first + 2).map(([ms, letter]) => {
    const count = Math.floor(rest / ms);
    rest -= count * ms;
    return { count, text: `${count}${letter}` };
  });
  return parts
    .filter(({ count }) => count > 0)
    .map(({ text }) => text)
    .join(' ');
}

/** `3m 20s ago`, or `-`. */
export function toAge(atMs: number | null, nowMs: number = Date.now()): string {
  return atMs === null ? '-' : `${toDuration(Math.max(0, nowMs - atMs))} ago`;
}

/** Local time as `2026-01-31 12:00:05`, or `-`. */
export function toTime(atMs: number | null): string {
  if (atMs === null) return '-';
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

/** Five significant digits. */
export function toNumber(value: MetricValue): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(5))) : value;
}

/** `812 B`, `14.2 KiB`, `1.5 GiB`, or `-`. */
export function toSize(bytes: number | null): string {
  if (bytes === null) return '-';
  const step = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), SIZE_UNITS.length - 1);
  return `${Number((bytes / 1024 ** step).toFixed(1))} ${SIZE_UNITS[step]}`;
}

/** Milliseconds of `90s`, `15m`, `12h`, `30d`; null when it is none of these. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+)([smhd])$/.exec(text);
  const unit = UNITS.find(([, letter]) => letter === match?.[2]);
  return match && unit ? Number(match[1]) * unit[0] : null;
}

/** An id as a table shows it: on a terminal its last six characters, which every command takes; else the whole. */
export function toShownId(id: string | null, isTerminal = process.stdout.isTTY): string {
  if (id === null) return '-';
  return isTerminal ? id.slice(-6) : id;
}

/** Why a QUEUED job waits; the server has no reason before its scheduler has seen the job. */
export function toWaitReason(pendingReason: string | null): string {
  return pendingReason ?? 'the next pass of the scheduler decides';
}
