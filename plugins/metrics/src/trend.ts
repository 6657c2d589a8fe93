import type { Trend } from '@svc/contract';

/** The trend looks at so many of the last points. */
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
export function trendOf(values: readonly number[]): Trend {
  const recent = toUnitScale(lastFinite(values, TREND_WINDOW));
  if (recent.length < MIN_POINTS) return 'unknown';
  const slope = medianSlope(recent);
  const rise = slope * (recent.length - 1);
  const standardError = noiseOf(recent, slope) * Math.sqrt(12 / recent.length);
  if (Math.abs(rise) <= SIGNIFICANCE * standardError) return 'stable';
  return rise > 0 ? 'increasing' : 'decreasing';
}

function lastFinite(values: readonly number[], count: number): number[] {
  const found: number[] = [];
  for (let index = values.length - 1; index >= 0 && found.length < count; index -= 1) {
    const value = values[index] as number;
    if (Number.isFinite(value)) found.push(value);
  }
  return found.reverse();
}

/** So that no difference overflows. */
function toUnitScale(values: readonly number[]): number[] {
  const largest = Math.max(...values.map(Math.abs));
  return largest > 0 ? values.map((value) => value / largest) : [...values];
}

function medianSlope(values: readonly number[]): number {
  const distance = Math.ceil(values.length / 2);
  const slopes: number[] = [];
  for (let late = distance; late < values.length; late += 1) {
    slopes.push(((values[late] as number) - (values[late - distance] as number)) / distance);
  }
  return median(slopes);
}

function noiseOf(values: readonly number[], slope: number): number {
  const residuals = values.map((value, index) => value - slope * index);
  const center = median(residuals);
  return MAD_TO_SIGMA * median(residuals.map((residual) => Math.abs(residual - center)));
}

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}
