import type { routes, Series } from '@svc/contract';
import { fromMetricValue } from '@svc/contract/protocol';
import { endpoint, type Api } from './api.js';

const QUERY = endpoint<typeof routes.queryMetrics>('POST', '/runs/metrics:query');

/** Of one request, as the server has it. */
export const MAX_RUNS = 100;
/** Enough for the first and last point, and the extremes among which the server sorts what is not finite. */
const LIMIT = 7;

/** A value of a metric, and the step of it. */
export interface StepValue {
  readonly value: number;
  readonly step: number;
}

/** What a table shows of a metric of a run. `lowest` and `highest`: of the finite values; null without one. */
export interface MetricValues {
  readonly last: StepValue;
  readonly lowest: StepValue | null;
  readonly highest: StepValue | null;
}

/** By run and metric; a run without the metric has no entry for it. */
export type ValuesOfRuns = ReadonlyMap<string, ReadonlyMap<string, MetricValues>>;

/** Reads the values of at most MAX_RUNS runs in one request, which the server answers from the digests that it holds. */
export async function readMetricValues(
  api: Api,
  runIds: readonly string[],
  names: readonly string[],
  signal: AbortSignal,
): Promise<ValuesOfRuns> {
  const body = { run_ids: [...runIds], names: [...names], limit: LIMIT };
  const { series } = await api.call(QUERY, { body, signal });
  return new Map(
    runIds.map((id) => [
      id,
      new Map(Object.entries(series[id] ?? {}).flatMap(([name, one]) => toEntry(name, one))),
    ]),
  );
}

function toEntry(name: string, { steps, values }: Series): [string, MetricValues][] {
  const points = values.map((value, at) => ({ value: fromMetricValue(value), step: steps[at]! }));
  const last = points.at(-1);
  if (last === undefined) return [];
  const finite = points.filter(({ value }) => Number.isFinite(value));
  const pick = (isBetter: (a: number, b: number) => boolean): StepValue | null =>
    finite.reduce<StepValue | null>(
      (best, point) => (best === null || isBetter(point.value, best.value) ? point : best),
      null,
    );
  return [[name, { last, lowest: pick((a, b) => a < b), highest: pick((a, b) => a > b) }]];
}
