import { formatClock, formatCount, formatDuration, formatTick, formatTicks } from '../format.js';

/** What stands on the x axis. `time`: ms since the Unix epoch, shown in local time; `elapsed`: ms since each line began. */
export type XKind = 'step' | 'epoch' | 'time' | 'elapsed';

/** From and to, in the unit of the x axis. */
export type Range = readonly [from: number, to: number];

/** Values as uPlot gets them. It rejects numbers of more than 17 digits, so very large and very small ones are scaled. */
export interface YScale {
  toPlot(value: number): number;
  fromPlot(value: number): number;
  /** Bounds of the axis for the smallest and the largest value to plot. */
  bounds(min: number | null, max: number | null): [number, number];
  /** Where ticks are, at most about so many. */
  ticks(min: number, max: number, count: number): number[];
}

export function linearScale(largest: number, limits: Readonly<Partial<Limits>> = {}): YScale {
  const isUsual = largest === 0 || (largest >= 1e-6 && largest < 1e9);
  const unit = isUsual ? 1 : 10 ** Math.max(-307, Math.floor(Math.log10(largest)));
  return {
    toPlot: (value) => value / unit,
    fromPlot: (value) => round(value * unit),
    bounds(min, max) {
      if (min === null || max === null) return [0, 1];
      const air = (max - min) * 0.06 || Math.abs(max) * 0.1 || 1;
      const low = limits.min === undefined ? min - air : Math.min(min, limits.min / unit);
      return [low, limits.max === undefined ? max + air : Math.max(max, limits.max / unit)];
    },
    ticks: niceTicks,
  };
}

/** Bounds that an axis reaches in any case, such as 0 and 100 of a percentage. */
export interface Limits {
  min: number;
  max: number;
}

/** No number is larger than ten to about this. */
const LARGEST_DECADE = 308.25;

export function logScale(): YScale {
  return {
    toPlot: Math.log10,
    fromPlot: (value) => round(10 ** value),
    bounds(min, max) {
      if (min === null || max === null) return [0, 1];
      const air = (max - min) * 0.06 || 0.5;
      return [min - air, Math.min(max + air, LARGEST_DECADE)];
    },
    ticks: logTicks,
  };
}

/** Whole decades; within two of them, 1, 2 and 5 of each; within less, as on a linear axis. */
function logTicks(min: number, max: number, count: number): number[] {
  if (max - min < 0.7)
    return niceTicks(10 ** min, 10 ** max, count)
      .map(Math.log10)
      .filter(Number.isFinite);
  const parts = max - min < 2 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil((max - min) / Math.max(1, count)));
  const ticks: number[] = [];
  for (let decade = Math.floor(min); decade <= max; decade += 1) {
    if (decade % every !== 0) continue;
    for (const part of parts) ticks.push(decade + Math.log10(part));
  }
  return ticks.filter((tick) => tick >= min && tick <= max);
}

/** Multiples of 1, 2 or 5 times a power of ten, at most about `count` of them; of whole numbers with `least` 1. */
export function niceTicks(min: number, max: number, count: number, least = 0): number[] {
  if (!(max > min)) return [min];
  const rough = Math.max(least, (max - min) / Math.max(1, count));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((part) => part * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(min / step);
  const last = Math.floor(max / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => round((first + at) * step, 15));
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

/** Full minutes, hours or days; below a second as other numbers. `offsetMs`: of local time, so that days begin at midnight. */
export function timeTicks(min: number, max: number, count: number, offsetMs = 0): number[] {
  const rough = (max - min) / Math.max(1, count);
  // With milliseconds a text is half as long again.
  if (rough < SECOND) return niceTicks(min, max, Math.floor(count / 1.5), 1);
  const step = TIME_STEPS.find((candidate) => candidate >= rough) ?? niceAbove(rough / DAY) * DAY;
  const ticks: number[] = [];
  for (let tick = Math.ceil((min + offsetMs) / step) * step - offsetMs; tick <= max; tick += step)
    ticks.push(tick);
  return ticks;
}

function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((part) => part * power >= value) ?? 10);
}

export function xTicks(kind: XKind, min: number, max: number, count: number): number[] {
  if (kind === 'time') return timeTicks(min, max, count, -new Date(min).getTimezoneOffset() * MINUTE);
  if (kind === 'elapsed') return timeTicks(min, max, count);
  return niceTicks(min, max, count, kind === 'step' ? 1 : 0);
}

export function formatXTicks(kind: XKind, ticks: readonly number[]): string[] {
  if (kind === 'elapsed')
    return ticks.map((tick) => (tick % SECOND === 0 ? formatElapsed(tick) : formatTick(tick / SECOND) + 's'));
  if (kind !== 'time') return formatTicks(ticks);
  const gap = ticks.length > 1 ? ticks[1]! - ticks[0]! : MINUTE;
  return ticks.map((tick) => {
    const clock = formatClock(tick);
    if (gap >= DAY || clock === '00:00:00') return formatDate(tick);
    if (gap < SECOND) return `${clock}.${String(tick % SECOND).padStart(3, '0')}`;
    return gap < MINUTE ? clock : clock.slice(0, 5);
  });
}

/** What a tooltip says of a place on the x axis. */
export function formatX(kind: XKind, x: number): string {
  if (kind === 'step') return `Step ${formatCount(x)}`;
  if (kind === 'epoch') return `Epoch ${Number(x.toFixed(3))}`;
  return kind === 'time' ? `${formatDate(x)}, ${formatClock(x)}` : `After ${formatDuration(x)}`;
}

const dayOfYear = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

function formatDate(ts: number): string {
  return dayOfYear.format(ts);
}

/** `1h 30m` without parts that are zero. */
function formatElapsed(ms: number): string {
  if (ms < 0) return `−${formatElapsed(-ms)}`;
  const parts = [
    [Math.floor(ms / DAY), 'd'],
    [Math.floor((ms % DAY) / HOUR), 'h'],
    [Math.floor((ms % HOUR) / MINUTE), 'm'],
    [Math.floor((ms % MINUTE) / SECOND), 's'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).slice(0, 2);
  return shown.length === 0 ? '0' : shown.map(([count, unit]) => `${count}${unit}`).join(' ');
}

/** The x range of a chart without points beside each other: they stand in its middle. */
export function widenX(kind: XKind, from: number, to: number): [number, number] {
  if (from !== to) return [from, to];
  const half = { step: 1, epoch: 0.5, time: 30 * SECOND, elapsed: 30 * SECOND }[kind];
  return [from - half, to + half];
}

/** Without the last digits, which are errors of the arithmetic. */
function round(value: number, digits = 12): number {
  return Number(value.toPrecision(digits));
}
