import type { MetricPoint } from '@svc/contract';
import { toldOf } from './watch.js';

/** The points of some metrics: value after value, each step in the order of the metrics. */
export function pointsOf(series: Readonly<Record<string, readonly MetricPoint['value'][]>>): MetricPoint[] {
  const longest = Math.max(...Object.values(series).map(({ length }) => length));
  const steps = Array.from({ length: longest }, (_, step) => step);
  return steps
    .flatMap((step) =>
      Object.entries(series).flatMap(([name, values]) =>
        step < values.length ? [{ name, step, value: values[step] as MetricPoint['value'] }] : [],
      ),
    )
    .map((point, seq) => ({ ...point, seq }));
}

/** The types of the events that are told of the values of some metrics. */
export const typesOf = (series: Parameters<typeof pointsOf>[0], settings = {}) =>
  toldOf(pointsOf(series), settings).map(({ finding }) => finding.type);
