import type { Direction } from '@svc/contract';
import { medianOf } from './median.js';
import { TREND_WINDOW } from './trend.js';

/** The first and the best of all values of a series, which its last values alone need not include. */
export interface Reached {
  readonly first: number;
  readonly best: number;
  readonly direction: Direction;
}

/** With fewer values one cannot tell noise from a change. */
const MIN_POINTS = 4;
/** So many last values show where the series is: a quarter of them, and at least 3. */
const PART_NOW = 1 / 4;
const MIN_NOW = 3;
/** At least so many tell how much they vary. */
const MIN_NOISE = 8;
const SIGMAS = 6;
/** Less than this part of the best value is too little to speak of. */
const LEAST_LOSS = 0.05;
/** Clear: half of what was gained since the first value is lost, or a value to be small is this many times its best. */
const GAIN_LOST = 1 / 2;
const FACTOR = 1.5;

const MAD_TO_SIGMA = 1.4826;
const SECOND_DIFFERENCE_SIGMA = Math.sqrt(6);

/**
 * Whether each of the last values is clearly worse than the best one, which came before them, as after a divergence from which a training does
 * not come back. `values`: the last ones, oldest first, of which at most 64 count; those that are not finite are ignored. A best value that is
 * not above 0 gives false: losses around 0, as those of policies, have no best value to come back to. Must hold: a noisy series that goes well
 * is not far from its best, however low one value is by chance.
 */
export function isFarFromBest(values: Float64Array, { first, best, direction }: Reached): boolean {
  const recent = values.slice(-TREND_WINDOW).filter(Number.isFinite);
  if (recent.length < MIN_POINTS || !(best > 0)) return false;
  const count = Math.max(MIN_NOW, Math.floor(PART_NOW * recent.length));
  const isLow = direction === 'minimize';
  const nearest = recent.slice(-count).reduce(isLow ? minOf : maxOf);
  const lost = Math.abs(nearest - best);
  if (lost <= Math.max(LEAST_LOSS * best, SIGMAS * noiseOf(recent.slice(-Math.max(MIN_NOISE, count)))))
    return false;
  return lost >= GAIN_LOST * Math.abs(first - best) || (isLow && nearest >= FACTOR * best);
}

/** The standard deviation of the values from a curve without bends. */
function noiseOf(values: Float64Array): number {
  const bends = values
    .slice(2)
    .map((value, index) => Math.abs(value - 2 * (values[index + 1] as number) + (values[index] as number)));
  return (MAD_TO_SIGMA * medianOf(bends)) / SECOND_DIFFERENCE_SIGMA;
}

function minOf(a: number, b: number): number {
  return Math.min(a, b);
}

function maxOf(a: number, b: number): number {
  return Math.max(a, b);
}
