import {
  isDirectionKnown,
  toMetricValue,
  type MetricSummary,
  type Run,
  type RunSummary,
} from '@svc/contract';
import type { Db } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { MetricDefinitions, MetricMeaning } from '@svc/plugin-metric-definitions';
import {
  TREND_WINDOW,
  healthOf,
  isLoss,
  medianIntervalMs,
  newestSpike,
  trendOf,
  type SeriesEvidence,
} from '@svc/signals';
import { decodeLastValues, decodePoints } from './chunk-codec.js';
import type { DigestPoint } from './digest.js';
import type { SeriesRow } from './point-rows.js';
import type { PointStore } from './point-store.js';
import type { Point } from './point.js';
import { seriesPagesOf } from './series-pages.js';

/** Where the data of a summary comes from. */
export interface SummarySource {
  readonly db: Db;
  readonly store: PointStore;
  readonly events: Events;
  readonly definitions: MetricDefinitions;
}

/** What a summary says about one series, and what decides the run's health. */
interface SeriesPart {
  readonly name: string;
  readonly metric: MetricSummary;
  readonly evidence: SeriesEvidence;
}

const MAX_EVENTS = 20;

/** Reads only the digests and tails, which each batch updates: its cost does not grow with the length of the run. */
export async function loadSummary(source: SummarySource, run: Run, now: number): Promise<RunSummary> {
  const { db, store, events, definitions } = source;
  const critical_events = await events.list(db, { run_id: run.id, severity: 'critical' }, MAX_EVENTS);
  const stored = await store.read((rows) => rows.findRun(run.id));
  const parts: SeriesPart[] = [];
  let busiest: SeriesRow | null = null;
  for await (const page of seriesPagesOf(store, run.id)) {
    const names = page.map(({ name }) => name);
    const meanings = await definitions.meanings(db, { ...run, run_id: run.id }, names);
    for (const row of page) {
      parts.push(toPart(row, meanings.get(row.name) as MetricMeaning));
      if (busiest === null || row.digest.count > busiest.digest.count) busiest = row;
    }
  }
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
      stale_since: run.stale_since,
      received_at: stored?.received_at ?? null,
      interval_ms: busiest && intervalOf(busiest),
      series: parts.map(({ evidence }) => evidence),
      critical_events,
    }),
    metrics: Object.fromEntries(parts.map(({ name, metric }) => [name, metric])),
  };
}

function toPart(row: SeriesRow, meaning: MetricMeaning): SeriesPart {
  const recent = decodeLastValues(row.tail, row.tail_count, TREND_WINDOW);
  return {
    name: row.name,
    metric: toMetricSummary(row, recent, meaning),
    evidence: toEvidence(row, recent),
  };
}

/** How often the run reports, measured by the series with the most points. */
function intervalOf(busiest: SeriesRow): number | null {
  return medianIntervalMs(decodePoints(busiest.tail).slice(-TREND_WINDOW));
}

function toEvidence({ name, digest, tail }: SeriesRow, recent: Float64Array): SeriesEvidence {
  const spike = isLoss(name) ? newestSpike(recent) : null;
  if (!spike) return { name, digest, spike };
  const { step, value } = decodePoints(tail).slice(-TREND_WINDOW)[spike.index] as Point;
  return { name, digest, spike: { step, value, median: spike.median } };
}

function toMetricSummary({ digest }: SeriesRow, recent: Float64Array, meaning: MetricMeaning): MetricSummary {
  const { value, step, ts } = digest.last as DigestPoint;
  const { direction, guessed, guessed_from, is_primary } = meaning;
  const extreme = direction === 'minimize' ? digest.min : digest.max;
  const best = isDirectionKnown(meaning) ? extreme : null;
  return {
    latest: { value: toMetricValue(value), step, ts },
    best: best && { value: best.value, step: best.step },
    trend: trendOf(recent),
    ...{ direction, guessed, guessed_from, is_primary },
    count: digest.count,
  };
}

function progressOf({ step, max_steps }: Run): number | null {
  return step === null || max_steps === null ? null : Math.min(1, Math.max(0, step / max_steps));
}
