import {
  guessDirection,
  type Direction,
  type EventRecord,
  type MetricSummary,
  type Run,
  type RunSummary,
} from '@svc/contract';
import { decodePoints, decodeValues } from './chunk-codec.js';
import type { Events } from '@svc/plugin-events';
import type { Db } from '@svc/kernel';
import type { Mark } from './digest.js';
import { healthOf, medianIntervalMs } from './health.js';
import type { RunRow, SeriesRow } from './point-rows.js';
import type { PointStore } from './point-store.js';
import { toMetricValue } from './point.js';
import { TREND_WINDOW, trendOf } from './trend.js';

/** Whether lower or higher is better for this metric of this run: guessed from its name. */
export function directionOf(_run: Run, name: string): Direction {
  return guessDirection(name);
}

/** Where the evidence on a run comes from. */
export interface SummarySource {
  readonly db: Db;
  readonly store: PointStore;
  readonly events: Events;
}

const MAX_EVENTS = 20;

export async function loadSummary(
  { db, store, events }: SummarySource,
  run: Run,
  now: number,
): Promise<RunSummary> {
  const critical = await events.list(db, { run_id: run.id, severity: 'critical' }, MAX_EVENTS);
  return store.read(async (rows) => {
    const stored = await rows.findRun(run.id);
    return toSummary(run, stored, stored ? await rows.findSeries(stored.key, null) : [], critical, now);
  });
}

/** Reads only what the store keeps up to date with each batch, so its cost does not grow with the run. */
export function toSummary(
  run: Run,
  stored: RunRow | null,
  series: readonly SeriesRow[],
  critical_events: readonly EventRecord[],
  now: number,
): RunSummary {
  return {
    run_id: run.id,
    status: run.status,
    step: run.step,
    epoch: run.epoch,
    max_steps: run.max_steps,
    progress: progressOf(run),
    health: healthOf({
      status: run.status,
      now,
      received_at: stored?.received_at ?? null,
      interval_ms: intervalOf(series),
      series,
      critical_events,
    }),
    metrics: Object.fromEntries(
      series.map((row) => [row.name, toMetricSummary(row, directionOf(run, row.name))]),
    ),
  };
}

/** Of the series with the most points: how often the run reports. */
function intervalOf(series: readonly SeriesRow[]): number | null {
  const [first, ...others] = series;
  if (!first) return null;
  const busiest = others.reduce((a, b) => (b.digest.count > a.digest.count ? b : a), first);
  return medianIntervalMs(decodePoints(busiest.tail).slice(-TREND_WINDOW));
}

function toMetricSummary({ digest, tail }: SeriesRow, direction: Direction): MetricSummary {
  const { value, step, ts } = digest.last as Mark;
  const best = direction === 'minimize' ? digest.min : digest.max;
  return {
    latest: { value: toMetricValue(value), step, ts },
    best: best && { value: best.value, step: best.step },
    trend: trendOf(decodeValues(tail)),
    direction,
    is_primary: false,
    count: digest.count,
  };
}

function progressOf({ step, max_steps }: Run): number | null {
  return step === null || max_steps === null ? null : Math.min(1, Math.max(0, step / max_steps));
}
