import { strict, type Detector, type MetricPoint } from '@svc/contract';
import { isLoss, lastSpike, type LastSpike } from '@svc/signals';
import { Type } from 'typebox';
import { ByMetric } from './newest-points.js';

const options = strict({
  factor: Type.Number({
    minimum: 3,
    default: 3,
    description:
      'A spike exceeds the median of the up to 32 values before it by this factor, and is clear or leaves their noise, as the health of the run has it.',
  }),
  floor: Type.Number({
    minimum: 0,
    default: 0.02,
    description:
      'A spike is at least this part of the highest value of the loss: a loss that has almost vanished may jump.',
  }),
  vanished_part: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.005,
    description:
      'A loss has vanished while its median is below this part of its highest value. Then it jumps with each surprise, and a spike exceeds the highest value, or lasts for 3 values in a row.',
  }),
  points: Type.Integer({
    minimum: 1,
    maximum: 16,
    default: 2,
    description:
      'So many values in a row are spikes before it is told (debounce), unless the first is clear. Spikes that are not clear leave the noise: their logarithm exceeds that of the median by 5 standard deviations, taken 1 + 6/n times as large as n values show them.',
  }),
  single_floor: Type.Number({
    minimum: 0,
    default: 0.5,
    description:
      'A clear spike is told at once, as a single value, when it is at least this part of the highest value of the loss before it.',
  }),
});

/** As many values as the signal compares a value with. */
const HISTORY = 32;
const VANISHED_POINTS = 3;
/** After this many values the highest one counts half, so that a long run forgets its beginning. */
const HIGHEST_HALVED_AFTER = 10_000;
const FINGERPRINT = 'spike';

interface Series {
  /** Before the spike that lasts, if one does. */
  highest: number;
  highestOfSpike: number;
  /** Oldest first. */
  values: number[];
  inARow: number;
}

interface Memory {
  readonly options: {
    readonly factor: number;
    readonly floor: number;
    readonly vanished_part: number;
    readonly points: number;
    readonly single_floor: number;
  };
  readonly series: ByMetric<Series>;
  /** Metrics whose newest value is a spike. */
  readonly spiking: Set<string>;
}

/** A run is told of once, not each of its losses: they jump together. */
export const lossSpike: Detector<typeof options, Memory> = {
  name: 'loss-spike',
  of: 'run',
  takes: ['metric'],
  finds: [
    {
      type: 'LOSS_SPIKE',
      severity: 'warning',
      when: 'a loss exceeds 3 times the median of the up to 32 values before it, which are at least 4 and above 0. At once when that is clear: most of them lie within a factor of 2 of the line on which they fall or rise, and the value exceeds twice the largest. Otherwise when two values in a row leave their noise. Once a loss has fallen below 1/200 of its highest value, a spike exceeds that, or lasts for three values. At most once in 10 minutes for a run',
    },
  ],
  optionsSchema: options,
  cooldownS: 600,
  wantsMetric: isLoss,
  init: (given) => ({
    options: given,
    series: new ByMetric<Series>(newSeries),
    spiking: new Set(),
  }),
  step(memory, input) {
    if (input.kind !== 'metric') return { memory, findings: [] };
    const spikes = input.points.map((point) => spikeAt(memory, point)).filter((spike) => spike !== null);
    const [worst] = spikes.sort((a, b) => b.value / b.median - a.value / a.median);
    if (!worst) return { memory, findings: [], over: memory.spiking.size === 0 ? [FINGERPRINT] : [] };
    const { metric, step, value, median } = worst;
    const [shown, usual] = [value, median].map((number) => Number(number.toPrecision(4)));
    const finding = {
      fingerprint: FINGERPRINT,
      type: 'LOSS_SPIKE',
      severity: 'warning' as const,
      title: `${metric} jumped to ${shown}`,
      message: `At step ${step}; before, its median was ${usual}.`,
      data: { metric, step, value, median },
    };
    return { memory, findings: [finding] };
  },
};

const newSeries = (): Series => ({ highest: 0, highestOfSpike: 0, values: [], inARow: 0 });

function spikeAt({ series: all, spiking, options: given }: Memory, point: MetricPoint) {
  const { name, step, value } = point;
  if (typeof value !== 'number') return null;
  const series = all.next(point);
  if (series === null) return null;
  const spike = findSpike(series, value, given);
  series.inARow = spike === null ? 0 : series.inARow + 1;
  const isSure = spike !== null && isTold(spike, series, value, given);
  noteHighest(series, value, spike !== null);
  series.values.push(value);
  if (series.values.length > HISTORY) series.values.shift();
  if (spike === null) {
    spiking.delete(name);
    return null;
  }
  spiking.add(name);
  return isSure ? { metric: name, step, value, median: spike.median } : null;
}

function findSpike(
  { values, highest }: Series,
  value: number,
  { factor, floor }: Memory['options'],
): LastSpike | null {
  // Rules out most values: the median is not below the lowest.
  if (value <= 3 * lowestOf(values) || value < floor * highest) return null;
  const spike = lastSpike(Float64Array.from([...values, value]));
  return spike !== null && value > factor * spike.median ? spike : null;
}

function noteHighest(series: Series, value: number, isSpike: boolean): void {
  series.highest *= 0.5 ** (1 / HIGHEST_HALVED_AFTER);
  series.highestOfSpike = Math.max(value, series.highestOfSpike);
  if (isSpike) return;
  series.highest = Math.max(series.highest, series.highestOfSpike);
  series.highestOfSpike = 0;
}

/** Whether it is clear and high enough, or has lasted long enough. */
function isTold(
  { median, isClear }: LastSpike,
  { highest, inARow }: Series,
  value: number,
  { vanished_part, points, single_floor }: Memory['options'],
): boolean {
  const hasVanished = median < vanished_part * highest;
  if (inARow >= (hasVanished ? Math.max(points, VANISHED_POINTS) : points)) return true;
  return isClear && value > (hasVanished ? 1 : single_floor) * highest;
}

/** A loop, as it is called for each value of a loss. */
function lowestOf(values: readonly number[]): number {
  let lowest = Infinity;
  for (const value of values) if (value < lowest) lowest = value;
  return lowest;
}
