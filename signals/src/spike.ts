import { lineThrough } from './line.js';
import { medianOf } from './median.js';

/** A spike exceeds this many times the median of the values before it. */
const SPIKE_FACTOR = 3;
/** And its logarithm that of the median by this many standard deviations: a loss near its end is often noisy, and healthy all the same. */
const SPIKE_SIGMAS = 5;
/** So much larger is the standard deviation taken, divided by the number of values that it comes from. */
const SIGMA_ALLOWANCE = 6;
/** So much of normal noise lies below so many standard deviations. */
const HIGH_PART = 0.9;
const HIGH_PART_SIGMAS = 1.2816;
/** The smallest part of the median that counts as a value: a loss may come close to 0, or below. */
const LOWEST_PART = 1e-3;
const HISTORY = 32;
const MIN_HISTORY = 4;

export interface Spike {
  /** The index of the value in the input. */
  readonly index: number;
  /** The median of the up to 32 finite values before it. */
  readonly median: number;
}

/** The newest spike among values, oldest first; null without one. NaN and infinities are ignored: the health reports them separately. */
export function newestSpike(values: Float64Array): Spike | null {
  if (!mayHaveSpikes(values)) return null;
  const finite = values.filter(Number.isFinite);
  for (let index = values.length - 1, place = finite.length - 1; place >= MIN_HISTORY; index -= 1) {
    if (!Number.isFinite(values[index])) continue;
    const history = finite.subarray(Math.max(0, place - HISTORY), place);
    const median = medianOf(history.slice());
    if (median > 0 && isSpike(finite[place] as number, median, history)) return { index, median };
    place -= 1;
  }
  return null;
}

/** A spike that is the last of the values, for who looks at each value as it comes. */
export interface LastSpike {
  readonly median: number;
  /** By how many standard deviations of its noise it exceeds the median: more than 5. */
  readonly sigmas: number;
}

export function lastSpike(values: Float64Array): LastSpike | null {
  const value = values.at(-1) ?? NaN;
  const history = values.subarray(0, -1).filter(Number.isFinite).slice(-HISTORY);
  if (!Number.isFinite(value) || history.length < MIN_HISTORY) return null;
  const median = medianOf(history.slice());
  if (median <= 0 || !isSpike(value, median, history)) return null;
  return { median, sigmas: Math.log(value / median) / noiseOfLogarithm(history, median) };
}

function isSpike(value: number, median: number, history: Float64Array): boolean {
  if (value <= SPIKE_FACTOR * median) return false;
  return Math.log(value / median) > SPIKE_SIGMAS * noiseOfLogarithm(history, median);
}

/**
 * How much the values vary around the line on which they fall or rise, as a factor of their size: most of them, or the highest tenth where that
 * lies far above the others, as in the loss of single examples.
 */
function noiseOfLogarithm(values: Float64Array, median: number): number {
  const logarithms = values.map((value) => Math.log(Math.max(value / median, LOWEST_PART)));
  const { slope, noise, distance } = lineThrough(logarithms.slice());
  const residuals = logarithms.map((value, index) => value - (slope / distance) * index).sort();
  const high = residuals[Math.ceil(HIGH_PART * (residuals.length - 1))] as number;
  const ofHigh = (high - medianOf(residuals.slice())) / HIGH_PART_SIGMAS;
  return Math.max(noise / distance, ofHigh) * (1 + SIGMA_ALLOWANCE / values.length);
}

/** A quick test that rules out nearly all series by their highest and lowest value. */
function mayHaveSpikes(values: Float64Array): boolean {
  let [lowest, highest] = [Infinity, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  return highest > SPIKE_FACTOR * Math.max(0, lowest);
}

/** A metric with one of these words is about a loss, and is none: it may jump, or be infinite, in a healthy run. */
const NO_LOSSES = new Set([
  ...['scale', 'scaler', 'scaling', 'weight', 'coef', 'coeff', 'coefficient', 'ratio', 'count', 'time'],
  ...['best', 'min', 'max', 'lowest', 'std', 'var', 'variance'],
]);

/** Only losses can have spikes: other metrics may jump for good reasons. */
export function isLoss(name: string): boolean {
  const words = wordsOf(name);
  return words.includes('loss') && !words.some((word) => NO_LOSSES.has(word));
}

/** The words of a metric's name in lower case: it is split as for guessing its direction, and where `trainLoss` has its capital. */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[/_\-. ]/);
}
