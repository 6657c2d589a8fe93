import { medianOf } from './median.js';

/** A loss that exceeds so many times the median of the values before it has jumped. */
const SPIKE_FACTOR = 3;
const HISTORY = 32;
const MIN_HISTORY = 4;

export interface Spike {
  /** Of the value, in what was given. */
  readonly index: number;
  /** Of the up to 32 finite values before it. */
  readonly median: number;
}

/** The newest spike among values, oldest first; null without one. NaN and infinities are passed over: they are told of by themselves. */
export function newestSpike(values: Float64Array): Spike | null {
  const finite = values.filter(Number.isFinite);
  if (!exceeds(finite.reduce(max, 0), finite)) return null;
  for (let index = values.length - 1, place = finite.length - 1; place >= MIN_HISTORY; index -= 1) {
    if (!Number.isFinite(values[index])) continue;
    const history = finite.slice(Math.max(0, place - HISTORY), place);
    const median = exceeds(finite[place] as number, history) ? medianOf(history) : Infinity;
    if (median > 0 && (finite[place] as number) > SPIKE_FACTOR * median) return { index, median };
    place -= 1;
  }
  return null;
}

/** Whether it could be a spike: the least of the values is easier to find than their median, and no higher. */
function exceeds(value: number, history: Float64Array): boolean {
  return value > SPIKE_FACTOR * Math.max(0, history.reduce(min, Infinity));
}

const min = (a: number, b: number): number => (b < a ? b : a);
const max = (a: number, b: number): number => (b > a ? b : a);

/** Spikes are told of losses alone: other numbers jump for good reasons. The words of a name are those that its direction is guessed by. */
export function isLoss(name: string): boolean {
  return name
    .toLowerCase()
    .split(/[/_\-.]/)
    .includes('loss');
}
