import { medianOf } from './median.js';

/** A loss is a spike when it exceeds this many times the median of the values before it. */
const SPIKE_FACTOR = 3;
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
    const median = medianOf(finite.slice(Math.max(0, place - HISTORY), place));
    if (median > 0 && (finite[place] as number) > SPIKE_FACTOR * median) return { index, median };
    place -= 1;
  }
  return null;
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

/** Only losses can have spikes: other metrics may jump for good reasons. The name is split into words as for guessing its direction. */
export function isLoss(name: string): boolean {
  return name
    .toLowerCase()
    .split(/[/_\-.]/)
    .includes('loss');
}
