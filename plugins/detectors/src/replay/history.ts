import { toMetricValue, type AttemptKey, type LogLine, type MetricPoint } from '@svc/contract';
import { yieldIfSliceOver } from '@svc/kernel';
import type { Logs } from '@svc/plugin-logs';
import type { Metrics } from '@svc/plugin-metrics';
import type { NodeMetrics } from '@svc/plugin-node-metrics';

/** Something with its time, in ms. */
export interface Dated<T> {
  readonly at: number;
  readonly what: T;
}

/** A list by time; `isComplete` is false when it was longer than what is replayed. */
export interface Track<T> {
  readonly items: readonly Dated<T>[];
  readonly isComplete: boolean;
}

export const MAX_POINTS = 500_000;
const MAX_LINES = 200_000;
const MAX_NAMES = 200;
const MAX_GPUS = 16;

/** The points of the metrics, each in the order in which the training reported it. */
export async function* pointTracks(
  metrics: Metrics,
  runId: string,
  names: readonly string[],
): AsyncGenerator<Track<MetricPoint>> {
  let room = MAX_POINTS;
  for (const name of names.slice(0, MAX_NAMES)) {
    const items: Dated<MetricPoint>[] = [];
    let isComplete = names.length <= MAX_NAMES;
    for await (const { points } of metrics.points(runId, [name])) {
      for (const { seq, step, ts, value } of points.slice(0, room))
        items.push({ at: ts, what: { seq, name, step, ts, value: toMetricValue(value) } });
      isComplete &&= points.length <= room;
      room -= Math.min(room, points.length);
      if (room === 0) break;
    }
    yield { items: items.sort((a, b) => a.at - b.at || a.what.seq - b.what.seq), isComplete };
  }
}

class Enough extends Error {}

export async function lineTrack(logs: Logs, key: AttemptKey): Promise<Track<LogLine>> {
  const items: Dated<LogLine>[] = [];
  let isComplete = true;
  await logs
    .readFrom(key, 0, (lines) => {
      for (const line of lines) items.push({ at: line.ts, what: line });
      if (items.length < MAX_LINES) return;
      isComplete = false;
      throw new Enough();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Enough)) throw error;
    });
  return { items, isComplete };
}

/** The figures of the host that detectors read, in that time. */
export async function sampleTrack(
  nodeMetrics: NodeMetrics,
  nodeId: string,
  from: number,
  to: number,
): Promise<Track<Record<string, number>>> {
  const gpus = Array.from({ length: MAX_GPUS }, (_, index) => index);
  const ofGpu = gpus.flatMap((gpu) =>
    ['util', 'ecc_uncorrected', 'throttled'].map((figure) => `gpu.${gpu}.${figure}`),
  );
  const names = new Set(['disk.free_gb', 'disk.total_gb', ...ofGpu]);
  const rows = new Map<number, Record<string, number>>();
  for (const [name, { ts, values }] of Object.entries(await nodeMetrics.series(nodeId, names, from))) {
    await yieldIfSliceOver();
    ts.forEach((at, index) => {
      if (at > to) return;
      const row = rows.get(at) ?? {};
      row[name] = values[index] as number;
      rows.set(at, row);
    });
  }
  const items = [...rows].map(([at, what]) => ({ at, what })).sort((a, b) => a.at - b.at);
  return { items, isComplete: true };
}
