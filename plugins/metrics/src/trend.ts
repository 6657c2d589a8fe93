import type { Trend } from '@svc/contract';
import { medianOf } from './median.js';

/** Trend and spikes look at so many of the last points. */
export const TREND_WINDOW = 64;
const MIN_POINTS = 4;
/** A rise must be so many times what noise alone would show. */
const SIGNIFICANCE = 4;
/** Makes the median absolute deviation of normal noise its standard deviation. */
const MAD_TO_SIGMA = 1.4826;

/**
 * The trend of the last values, oldest first. A line is laid through them by the median of the slopes between each point and the one
 * half a window later (Theil's method: up to a quarter of the values may be wild). It is a trend when the line rises or falls
 * over the window by more than 4 times the standard error that the residuals' median absolute deviation gives
 * such a rise. Neither a change of unit nor of origin changes the answer. Values that are not finite are left out;
 * with fewer than 4 points it is `unknown`.
 */
export function trendOf(values: Float64Array): Trend {
  const recent = toUnitScale(values.subarray(-TREND_WINDOW).filter(Number.isFinite));
  const { length } = recent;
  if (length < MIN_POINTS) return 'unknown';
  const distance = Math.ceil(length / 2);
  const slope = medianOf(recent.subarray(distance).map((late, index) => late - (recent[index] as number)));
  const rise = slope * (length - 1);
  const standardError = noiseOf(recent, slope, distance) * Math.sqrt(12 / length);
  if (Math.abs(rise) <= SIGNIFICANCE * standardError) return 'stable';
  return rise > 0 ? 'increasing' : 'decreasing';
}

/** So that no difference overflows. By a power of 2, which rounds nothing. */
function toUnitScale(values: Float64Array): Float64Array {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  if (largest === 0) return values;
  const factor = 2 ** -Math.max(-1000, Math.min(1000, Math.floor(Math.log2(largest))));
  return values.map((value) => value * factor);
}

/** `slope` is the rise over `distance` points, and so is the noise: nothing is divided, so that whole numbers stay exact. */
function noiseOf(values: Float64Array, slope: number, distance: number): number {
  const residuals = values.map((value, index) => value * distance - slope * index);
  const center = medianOf(residuals.slice());
  return MAD_TO_SIGMA * medianOf(residuals.map((residual) => Math.abs(residual - center)));
}
