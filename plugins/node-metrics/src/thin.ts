import type { NodeSeries } from '@svc/contract';
import type { TimedValues } from './samples.js';

/** At most `limit` of the values: the first, the last, and the minimum and maximum of each of equal buckets. */
export function toThinned({ ts, values }: TimedValues, limit: number): NodeSeries {
  const total = ts.length;
  const kept = total <= limit ? null : keptOf(values, limit);
  return {
    ts: kept === null ? ts : kept.map((index) => ts[index] as number),
    values: kept === null ? values : kept.map((index) => values[index] as number),
    total,
    downsampled: kept !== null,
  };
}

/** Indices, rising. */
function keptOf(values: readonly number[], limit: number): number[] {
  if (limit < 4) return [0, values.length - 1].slice(0, limit);
  const bucketCount = Math.floor((limit - 2) / 2);
  const kept = new Set([0, values.length - 1]);
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    const from = Math.floor((bucket * values.length) / bucketCount);
    const to = Math.floor(((bucket + 1) * values.length) / bucketCount);
    for (const index of extremesOf(values, from, to)) kept.add(index);
  }
  return [...kept].sort((a, b) => a - b);
}

function extremesOf(values: readonly number[], from: number, to: number): [number, number] {
  let low = from;
  let high = from;
  for (let index = from; index < to; index++) {
    if ((values[index] as number) < (values[low] as number)) low = index;
    if ((values[index] as number) > (values[high] as number)) high = index;
  }
  return [low, high];
}
