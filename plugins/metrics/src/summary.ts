import { guessDirection, type Direction, type MetricSummary, type Run, type RunSummary } from '@svc/contract';
import { decodePoints } from './chunk-codec.js';
import type { Digest, Mark } from './digest.js';
import { healthOf, medianIntervalMs } from './health.js';
import type { RunRow, SeriesRow } from './point-rows.js';
import type { PointStore } from './point-store.js';
import { toMetricValue } from './point.js';
import { TREND_WINDOW, trendOf } from './trend.js';

/** Whether lower or higher is better for this metric of this run: guessed from its name. */
export function directionOf(_run: Run, name: string): Direction {
  return guessDirection(name);
}

export async function loadSummary(store: PointStore, run: Run, now: number): Promise<RunSummary> {
  return store.read(async (rows) => {
    const stored = await rows.findRun(run.id);
    return toSummary(run, stored, stored ? await rows.findSeries(stored.key, null) : [], now);
  });
}

/** Reads only what the store keeps up to date with each batch, so its cost does not grow with the run. */
export function toSummary(
  run: Run,
  stored: RunRow | null,
  series: readonly SeriesRow[],
  now: number,
): RunSummary {
  const recent = new Map(series.map(({ name, tail }) => [name, decodePoints(tail).slice(-TREND_WINDOW)]));
  const busiest = series.reduce<SeriesRow | null>(
    (a, b) => (a && a.digest.count >= b.digest.count ? a : b),
    null,
  );
  const metrics = series.map(({ name, digest }) => {
    const values = recent.get(name)?.map(({ value }) => value) ?? [];
    return [name, toMetricSummary(digest, values, directionOf(run, name))] as const;
  });
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
      interval_ms: medianIntervalMs(recent.get(busiest?.name ?? '') ?? []),
      series,
    }),
    metrics: Object.fromEntries(metrics),
  };
}

function toMetricSummary(digest: Digest, recent: readonly number[], direction: Direction): MetricSummary {
  const { value, step, ts } = digest.last as Mark;
  const best = direction === 'minimize' ? digest.min : digest.max;
  return {
    latest: { value: toMetricValue(value), step, ts },
    best: best && { value: best.value, step: best.step },
    trend: trendOf(recent),
    direction,
    is_primary: false,
    count: digest.count,
  };
}

function progressOf({ step, max_steps }: Run): number | null {
  return step === null || max_steps === null ? null : Math.min(1, Math.max(0, step / max_steps));
}
