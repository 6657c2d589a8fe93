import { strict, type Detector, type MetricPoint } from '@svc/contract';
import { isLoss, lastSpike, type LastSpike } from '@svc/signals';
import { Type } from 'typebox';
import { ByMetric } from './newest-points.js';

const options = strict({
  factor: Type.Number({
    minimum: 3,
    default: 3,
    description:
      'A spike exceeds the median of the up to 32 values before it by this factor. It also leaves their noise, as the health of the run has it.',
  }),
  floor: Type.Number({
    minimum: 0,
    default: 0.02,
    description:
      'A spike is at least this part of the first value of the loss: a loss that has almost vanished may jump.',
  }),
  points: Type.Integer({
    ...{ minimum: 1, maximum: 16, default: 2 },
    description: 'So many values in a row are spikes before it is told (debounce).',
  }),
  sure_sigmas: Type.Number({
    ...{ minimum: 5, default: 20 },
    description:
      'A value that exceeds the median by so many standard deviations of the noise is told at once.',
  }),
});

/** As many values as the signal compares a value with. */
const HISTORY = 32;
const FINGERPRINT = 'spike';

interface Series {
  first: number | null;
  /** Oldest first. */
  values: number[];
  inARow: number;
}

interface Memory {
  readonly options: {
    readonly factor: number;
    readonly floor: number;
    readonly points: number;
    readonly sure_sigmas: number;
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
      when: 'a loss exceeds 3 times the median of the up to 32 values before it, which are at least 4 and above 0, and leaves their noise: two values in a row by 5 standard deviations, or one by 20. At most once in 10 minutes for a run',
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
      ...{ fingerprint: FINGERPRINT, type: 'LOSS_SPIKE', severity: 'warning' as const },
      title: `${metric} jumped to ${shown}`,
      message: `At step ${step}; before, its median was ${usual}.`,
      data: { metric, step, value, median },
    };
    return { memory, findings: [finding] };
  },
};

const newSeries = (): Series => ({ first: null, values: [], inARow: 0 });

function spikeAt({ series: all, spiking, options: given }: Memory, point: MetricPoint) {
  const { name, step, value } = point;
  if (typeof value !== 'number') return null;
  const series = all.next(point);
  if (series === null) return null;
  const spike = findSpike(series, value, given);
  series.inARow = spike === null ? 0 : series.inARow + 1;
  series.first ??= value;
  series.values.push(value);
  if (series.values.length > HISTORY) series.values.shift();
  if (spike === null) {
    spiking.delete(name);
    return null;
  }
  spiking.add(name);
  const isSure = spike.sigmas >= given.sure_sigmas || series.inARow >= given.points;
  return isSure ? { metric: name, step, value, median: spike.median } : null;
}

function findSpike(
  { values, first }: Series,
  value: number,
  { factor, floor }: Memory['options'],
): LastSpike | null {
  // Rules out most values: the median is not below the lowest.
  if (value <= 3 * lowestOf(values) || value < floor * Math.abs(first ?? 0)) return null;
  const spike = lastSpike(Float64Array.from([...values, value]));
  return spike !== null && value > factor * spike.median ? spike : null;
}

/** A loop, as it is called for each value of a loss. */
function lowestOf(values: readonly number[]): number {
  let lowest = Infinity;
  for (const value of values) if (value < lowest) lowest = value;
  return lowest;
}
