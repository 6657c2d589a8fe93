import { lineThrough } from './line.js';
import { medianOf } from './median.js';

/** A spike exceeds this many times the median of the values before it. */
const SPIKE_FACTOR = 3;
/** And its logarithm that of the median by this many standard deviations, unless it is clear: a loss near its end is often noisy, and healthy all the same. */
const SPIKE_SIGMAS = 5;
/** A loss is steady while most of the values lie within this factor of the line on which they fall or rise. */
const STEADY_FACTOR = 2;
/** A spike of a steady loss is clear when it exceeds this many times the largest of the values before it. */
const CLEAR_FACTOR = 2;
/** So much larger is the standard deviation taken, divided by the number of values that it comes from. */
const SIGMA_ALLOWANCE = 6;
/** Most: so much of normal noise lies below so many standard deviations. */
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
    if (spikeOf(finite[place] as number, median, history)) return { index, median };
    place -= 1;
  }
  return null;
}

/** A spike that is the last of the values, for who looks at each value as it comes. */
export interface LastSpike {
  readonly median: number;
  /** The loss was steady, and the value exceeds the largest by 2 times: it is no noise, however few values there are. */
  readonly isClear: boolean;
}

export function lastSpike(values: Float64Array): LastSpike | null {
  const value = values.at(-1) ?? NaN;
  const history = values.subarray(0, -1).filter(Number.isFinite).slice(-HISTORY);
  if (!Number.isFinite(value) || history.length < MIN_HISTORY) return null;
  return spikeOf(value, medianOf(history.slice()), history);
}

function spikeOf(value: number, median: number, history: Float64Array): LastSpike | null {
  if (median <= 0 || value <= SPIKE_FACTOR * median) return null;
  const { sigma, above, below } = spreadOf(history, median);
  const isSteady = Math.max(above, below) <= Math.log(STEADY_FACTOR);
  const isClear = isSteady && value > CLEAR_FACTOR * history.reduce((a, b) => Math.max(a, b));
  return isClear || Math.log(value / median) > SPIKE_SIGMAS * sigma ? { median, isClear } : null;
}

/** How much the logarithms of values vary around the line on which they fall or rise. */
interface Spread {
  /** Their noise: that of most of them, or of the highest tenth where that lies far above the others, as in the loss of single examples. */
  readonly sigma: number;
  /** Nine of ten lie above the line by no more than this, and nine of ten below it. */
  readonly above: number;
  readonly below: number;
}

function spreadOf(values: Float64Array, median: number): Spread {
  const logarithms = values.map((value) => Math.log(Math.max(value / median, LOWEST_PART)));
  const { slope, noise, distance } = lineThrough(logarithms.slice());
  const residuals = logarithms.map((value, index) => value - (slope / distance) * index).sort();
  const center = medianOf(residuals.slice());
  const high = Math.ceil(HIGH_PART * (residuals.length - 1));
  const above = (residuals[high] as number) - center;
  const below = center - (residuals[residuals.length - 1 - high] as number);
  const ofMost = Math.max(noise / distance, above / HIGH_PART_SIGMAS);
  return { sigma: ofMost * (1 + SIGMA_ALLOWANCE / values.length), above, below };
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
