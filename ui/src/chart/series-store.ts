import type { Series } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';

/** Columns of equal length by step ascending; steps may repeat, values may be NaN or infinite. */
export interface PointColumns {
  steps: number[];
  values: number[];
  ts: number[];
}

/** A metric's points as this page holds them. */
export interface MetricSeries extends PointColumns {
  /** Points that the server has in the range; more than are here when it thinned them. */
  total: number;
  /** What the first points tell of their epochs, where one does; live points tell none. */
  epochs?: readonly (number | null)[];
}

export interface Point {
  step: number;
  value: number;
  ts: number;
}

export function toMetricSeries(answer: Series): MetricSeries {
  return {
    steps: [...answer.steps],
    values: answer.values.map(fromMetricValue),
    ts: [...answer.ts],
    total: answer.total,
    ...(answer.epochs && { epochs: answer.epochs }),
  };
}

export function emptySeries(): MetricSeries {
  return { steps: [], values: [], ts: [], total: 0 };
}

/** Adds the points that the series does not hold yet; returns how many those were. A point is known by step, time and value. */
export function mergePoints(series: MetricSeries, points: readonly Point[]): number {
  const fresh = points.filter((point) => !holds(series, point)).sort(byStepThenTime);
  if (fresh.length === 0) return 0;
  const distinct = fresh.filter((point, at) => at === 0 || !isSame(point, fresh[at - 1]!));
  if (isAfter(series, distinct[0]!)) distinct.forEach((point) => push(series, point));
  else interleave(series, distinct);
  series.total += distinct.length;
  return distinct.length;
}

/** The points of a series answer, for merging. */
export function toPoints(answer: Series): Point[] {
  return answer.steps.map((step, at) => ({
    step,
    value: fromMetricValue(answer.values[at]!),
    ts: answer.ts[at]!,
  }));
}

function holds(series: MetricSeries, point: Point): boolean {
  for (let at = lowerBound(series.steps, point.step); series.steps[at] === point.step; at += 1) {
    if (series.ts[at] === point.ts && Object.is(series.values[at], point.value)) return true;
  }
  return false;
}

/** The first place whose step is not below. */
export function lowerBound(steps: readonly number[], step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]! < step) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isAfter(series: MetricSeries, point: Point): boolean {
  const last = series.steps.length - 1;
  if (last < 0) return true;
  const step = series.steps[last]!;
  return point.step > step || (point.step === step && point.ts >= series.ts[last]!);
}

function push(series: PointColumns, point: Point): void {
  series.steps.push(point.step);
  series.values.push(point.value);
  series.ts.push(point.ts);
}

function interleave(series: MetricSeries, points: readonly Point[]): void {
  const merged: PointColumns = { steps: [], values: [], ts: [] };
  let next = 0;
  for (let at = 0; at < series.steps.length; at += 1) {
    const held = { step: series.steps[at]!, value: series.values[at]!, ts: series.ts[at]! };
    while (next < points.length && byStepThenTime(points[next]!, held) < 0) push(merged, points[next++]!);
    push(merged, held);
  }
  while (next < points.length) push(merged, points[next++]!);
  // They belong to places, which have changed.
  delete series.epochs;
  Object.assign(series, merged);
}

function byStepThenTime(a: Point, b: Point): number {
  return a.step - b.step || a.ts - b.ts;
}

function isSame(a: Point, b: Point): boolean {
  return a.step === b.step && a.ts === b.ts && Object.is(a.value, b.value);
}
