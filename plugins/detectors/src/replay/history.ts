import { toMetricValue, type MetricPoint } from '@svc/contract';
import { yieldIfSliceOver } from '@svc/kernel';
import type { Metrics } from '@svc/plugin-metrics';
import type { NodeMetrics } from '@svc/plugin-node-metrics';
import type { Dated } from './merge.js';

export type TimedPoint = MetricPoint & { readonly ts: number };

const MAX_POINTS = 500_000;
const MAX_NAMES = 200;
const READ = /^(disk\..*\b(free|total)_gb|gpu\.\d+\.(util|ecc_uncorrected|throttled|xid))$/;

/**
 * The points of the metrics in the order in which the training reported them. `isComplete` is false when there are too many, or when `isOver` said that
 * there is no more time.
 */
export async function readPoints(
  metrics: Metrics,
  runId: string,
  names: readonly string[],
  isOver: () => boolean,
): Promise<{ points: TimedPoint[]; isComplete: boolean }> {
  const points: TimedPoint[] = [];
  let isComplete = names.length <= MAX_NAMES;
  for await (const page of metrics.points(runId, names.slice(0, MAX_NAMES))) {
    const taken = page.points.slice(0, MAX_POINTS - points.length);
    for (const { seq, step, ts, value } of taken)
      points.push({ seq, name: page.name, step, ts, value: toMetricValue(value) });
    if (taken.length === page.points.length && !isOver()) continue;
    isComplete = false;
    break;
  }
  return { points: points.sort((a, b) => a.ts - b.ts || a.seq - b.seq), isComplete };
}

/** The figures of the host that detectors read, in that time. */
export async function readSamples(
  nodeMetrics: NodeMetrics,
  nodeId: string,
  from: number,
  to: number,
): Promise<Dated<Record<string, number>>[]> {
  const rows = new Map<number, Record<string, number>>();
  const read = { has: (name: string) => READ.test(name) };
  for (const [name, { ts, values }] of Object.entries(await nodeMetrics.series(nodeId, read, from))) {
    await yieldIfSliceOver();
    ts.forEach((at, index) => {
      if (at > to) return;
      const row = rows.get(at) ?? {};
      row[name] = values[index] as number;
      rows.set(at, row);
    });
  }
  return [...rows].map(([at, what]) => ({ at, what })).sort((a, b) => a.at - b.at);
}
