import type { Trend } from '@svc/contract';
import { lineThrough } from './line.js';

/** The number of last points that decide on trend and spikes. */
export const TREND_WINDOW = 64;
const MIN_POINTS = 4;
/** A rise must exceed its standard error by this factor. */
const SIGNIFICANCE = 4;

/**
 * The trend of the last values, oldest first: the line through them (see `line.ts`) rises or falls over the window by more than 4 standard
 * errors. The result does not depend on the unit or the origin of the values. Values that are not finite are ignored; with fewer than 4
 * points it is `unknown`.
 */
export function trendOf(values: Float64Array): Trend {
  const recent = toUnitScale(lastFinite(values));
  const { length } = recent;
  if (length < MIN_POINTS) return 'unknown';
  const { slope, noise } = lineThrough(recent);
  const rise = slope * (length - 1);
  const standardError = noise * Math.sqrt(12 / length);
  if (Math.abs(rise) <= SIGNIFICANCE * standardError) return 'stable';
  return rise > 0 ? 'increasing' : 'decreasing';
}

/** A copy without values that are not finite. This file uses loops for speed: a summary has hundreds of series. */
function lastFinite(values: Float64Array): Float64Array {
  const found = new Float64Array(Math.min(values.length, TREND_WINDOW));
  let count = 0;
  for (let index = values.length - found.length; index < values.length; index += 1) {
    const value = values[index] as number;
    if (Number.isFinite(value)) found[count++] = value;
  }
  return found.subarray(0, count);
}

/** Scales in place, so that no difference overflows. The factor is a power of 2, so nothing is rounded. */
function toUnitScale(values: Float64Array): Float64Array {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  if (largest === 0) return values;
  const factor = 2 ** -Math.max(-1000, Math.min(1000, Math.floor(Math.log2(largest))));
  for (let index = 0; index < values.length; index += 1) values[index] = (values[index] as number) * factor;
  return values;
}
