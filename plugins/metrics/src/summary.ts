import type { EventRecord, MetricSummary, Run, RunSummary } from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { MetricDefinitions, MetricMeaning } from '@svc/plugin-metric-definitions';
import { decodeLastValues, decodePoints } from './chunk-codec.js';
import type { Mark } from './digest.js';
import { healthOf, medianIntervalMs, type SeriesEvidence } from './health.js';
import type { RunRow, SeriesRow } from './point-rows.js';
import type { PointStore } from './point-store.js';
import { toMetricValue, type Point } from './point.js';
import { isLoss, newestSpike } from './spike.js';
import { TREND_WINDOW, trendOf } from './trend.js';

/** Where the evidence on a run comes from. */
export interface SummarySource {
  readonly db: Db;
  readonly store: PointStore;
  readonly events: Events;
  readonly definitions: MetricDefinitions;
}

/** What is known of a run, each part read once. Times in ms. */
export interface RunEvidence {
  readonly run: Run;
  /** null: the run has no points. */
  readonly stored: RunRow | null;
  readonly series: readonly SeriesRow[];
  /** By the name of each series. */
  readonly meanings: ReadonlyMap<string, MetricMeaning>;
  readonly critical_events: readonly EventRecord[];
  readonly now: number;
}

const MAX_EVENTS = 20;

export async function loadSummary(source: SummarySource, run: Run, now: number): Promise<RunSummary> {
  const { db, store, events, definitions } = source;
  const critical_events = await events.list(db, { run_id: run.id, severity: 'critical' }, MAX_EVENTS);
  const { stored, series } = await store.read(async (rows) => {
    const found = await rows.findRun(run.id);
    return { stored: found, series: found ? await rows.findSeries(found.key, null) : [] };
  });
  const names = series.map(({ name }) => name);
  const meanings = await definitions.meanings(db, run, names);
  return toSummary({ run, stored, series, meanings, critical_events, now });
}

/** Looks at what the store keeps up to date with each batch alone, so its cost does not grow with the run. */
export function toSummary({ run, stored, series, meanings, critical_events, now }: RunEvidence): RunSummary {
  const recent = series.map((row) => decodeLastValues(row.tail, row.tail_count, TREND_WINDOW));
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
      series: series.map((row, index) => toEvidence(row, recent[index] as Float64Array)),
      critical_events,
    }),
    metrics: Object.fromEntries(
      series.map((row, index) => [
        row.name,
        toMetricSummary(row, recent[index] as Float64Array, meanings.get(row.name) as MetricMeaning),
      ]),
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

function toEvidence({ name, digest, tail }: SeriesRow, recent: Float64Array): SeriesEvidence {
  const spike = isLoss(name) ? newestSpike(recent) : null;
  if (!spike) return { name, digest, spike };
  const { step, value } = decodePoints(tail).slice(-TREND_WINDOW)[spike.index] as Point;
  return { name, digest, spike: { step, value, median: spike.median } };
}

function toMetricSummary({ digest }: SeriesRow, recent: Float64Array, meaning: MetricMeaning): MetricSummary {
  const { value, step, ts } = digest.last as Mark;
  const best = meaning.direction === 'minimize' ? digest.min : digest.max;
  return {
    latest: { value: toMetricValue(value), step, ts },
    best: best && { value: best.value, step: best.step },
    trend: trendOf(recent),
    direction: meaning.direction,
    is_primary: meaning.is_primary,
    count: digest.count,
  };
}

function progressOf({ step, max_steps }: Run): number | null {
  return step === null || max_steps === null ? null : Math.min(1, Math.max(0, step / max_steps));
}
