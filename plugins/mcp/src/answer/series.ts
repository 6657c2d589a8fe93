import { MetricValue, Trend, nullable, strict, type Series } from '@svc/contract';
import { trendOf } from '@svc/signals';
import { Type } from 'typebox';

const Point = strict({ step: Type.Integer(), value: MetricValue });
const Extreme = nullable(strict({ step: Type.Integer(), value: Type.Number() }));

/** A series as a reader can use it: what it comes to, and some of its points. */
export const ThinSeries = strict({
  name: Type.String(),
  total: Type.Integer({ description: 'The points of the range that was asked for.' }),
  first: nullable(Point),
  last: nullable(Point),
  min: Extreme,
  max: Extreme,
  best: Type.Union([...Extreme.anyOf], {
    description: 'null while it is not known which direction is better.',
  }),
  trend: Trend,
  not_finite: Type.Integer({ description: 'NaN and infinite values among the points that were read.' }),
  steps: Type.Array(Type.Integer()),
  values: Type.Array(MetricValue),
});

interface Numbered {
  readonly step: number;
  readonly value: number;
}

/** `points`: how many of them are shown at most, the extremes among them. */
export function thin(
  name: string,
  series: Series,
  points: number,
  direction: 'minimize' | 'maximize' | null,
): Record<string, unknown> {
  const { steps, values, total } = series;
  const at = (index: number) =>
    index < 0 || index >= steps.length ? null : { step: steps[index], value: values[index] };
  const finite = values.flatMap((value, index): Numbered[] =>
    typeof value === 'number' ? [{ step: steps[index] ?? 0, value }] : [],
  );
  const min = extremeOf(finite, (a, b) => a < b);
  const max = extremeOf(finite, (a, b) => a > b);
  const best = { minimize: min, maximize: max };
  const shown = toShown(values, points);
  return {
    name,
    total,
    first: at(0),
    last: at(steps.length - 1),
    min,
    max,
    best: direction && best[direction],
    trend: trendOf(Float64Array.from(finite, ({ value }) => value)),
    not_finite: values.length - finite.length,
    steps: shown.map((index) => steps[index]),
    values: shown.map((index) => toShort(values[index]!)),
  };
}

function extremeOf(
  points: readonly Numbered[],
  isBetter: (a: number, b: number) => boolean,
): Numbered | null {
  return points.reduce<Numbered | null>(
    (best, point) => (best === null || isBetter(point.value, best.value) ? point : best),
    null,
  );
}

/** The indices of at most `points` values: the first, the last, the extremes and what is not finite first of all. */
function toShown(values: readonly MetricValue[], points: number): number[] {
  const all = values.length;
  if (all <= points) return values.map((_value, index) => index);
  const shown = new Set([0, all - 1]);
  const buckets = Math.max(1, Math.floor((points - shown.size) / 2));
  for (let bucket = 0; bucket < buckets && shown.size < points; bucket += 1) {
    const from = Math.floor((bucket * all) / buckets);
    const to = Math.floor(((bucket + 1) * all) / buckets);
    for (const index of remarkableIn(values, from, to)) if (shown.size < points) shown.add(index);
  }
  return [...shown].sort((a, b) => a - b);
}

/** The first value that is not finite and the lowest, else the lowest and the highest. */
function remarkableIn(values: readonly MetricValue[], from: number, to: number): number[] {
  let lowest = from;
  let highest = from;
  let odd = -1;
  for (let index = from; index < to; index += 1) {
    const value = values[index]!;
    if (typeof value !== 'number') {
      if (odd < 0) odd = index;
      continue;
    }
    if (!(Number(values[lowest]) <= value)) lowest = index;
    if (!(Number(values[highest]) >= value)) highest = index;
  }
  return odd < 0 ? [lowest, highest] : [odd, lowest];
}

/** Six digits are as many as a reader compares. */
function toShort(value: MetricValue): MetricValue {
  return typeof value === 'number' ? Number(value.toPrecision(6)) : value;
}
