import { medianOf } from './median.js';

/** Converts the median absolute deviation of normal noise to its standard deviation. */
const MAD_TO_SIGMA = 1.4826;

/** Slope and noise are in the same unit, that of the values times `distance`: nothing is divided, so that whole numbers stay exact. */
export interface Line {
  /** The rise over `distance` points. */
  readonly slope: number;
  /** The standard deviation of the values from the line, as their median absolute deviation gives it. */
  readonly noise: number;
  readonly distance: number;
}

/**
 * The line through at least 2 values: its slope is the median of the slopes between each value and the one half of them later (Theil's
 * method: up to a quarter of the values may be outliers). Overwrites `values`.
 */
export function lineThrough(values: Float64Array): Line {
  const distance = Math.ceil(values.length / 2);
  const slope = medianOf(differences(values, distance));
  return { slope, noise: noiseOf(values, slope, distance), distance };
}

function differences(values: Float64Array, distance: number): Float64Array {
  const found = new Float64Array(values.length - distance);
  for (let index = 0; index < found.length; index += 1)
    found[index] = (values[index + distance] as number) - (values[index] as number);
  return found;
}

function noiseOf(values: Float64Array, slope: number, distance: number): number {
  for (let index = 0; index < values.length; index += 1)
    values[index] = (values[index] as number) * distance - slope * index;
  const center = medianOf(values);
  for (let index = 0; index < values.length; index += 1)
    values[index] = Math.abs((values[index] as number) - center);
  return MAD_TO_SIGMA * medianOf(values);
}
