import {
  isDirectionKnown,
  partDone,
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
  healthReasonsOf,
  isFarFromBest,
  isLoss,
  medianIntervalMs,
  newestSpike,
  toHealth,
  trendOf,
  type HealthReason,
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
  readonly isFarFromBest: boolean;
}

/** A summary, and what it was concluded from. */
export interface RunSigns {
  readonly summary: RunSummary;
  /** Of the health of the summary. */
  readonly reasons: readonly HealthReason[];
  /** The metrics whose last values are clearly worse than their best one (see `isFarFromBest`). */
  readonly far_from_best: ReadonlySet<string>;
  /** When the server received the last points, in ms; null without any. */
  readonly received_at: number | null;
  /** The series with the most points; null without any. */
  readonly longest: LongestSeries | null;
}

export interface LongestSeries {
  readonly name: string;
  readonly first: DigestPoint;
  /** The last ones by step, at most TREND_WINDOW. */
  readonly recent: readonly Point[];
  /** The highest `ts` of all its points: when steps went back, the newest points are not among `recent`. */
  readonly newest_ts: number;
}

const MAX_EVENTS = 20;

/** Reads only the digests and tails, which each batch updates: its cost does not grow with the length of the run. */
export async function loadSigns(source: SummarySource, run: Run, now: number): Promise<RunSigns> {
  const { db, store, events, definitions } = source;
  const critical_events = await events.list(db, { run_id: run.id, severity: 'critical' }, MAX_EVENTS);
  const stored = await store.read((rows) => rows.findRun(run.id));
  const parts: SeriesPart[] = [];
  let longest: SeriesRow | null = null;
  for await (const page of seriesPagesOf(store, run.id)) {
    const names = page.map(({ name }) => name);
    const meanings = await definitions.meanings(db, { ...run, run_id: run.id }, names);
    for (const row of page) {
      parts.push(toPart(row, meanings.get(row.name) as MetricMeaning));
      if (longest === null || row.digest.count > longest.digest.count) longest = row;
    }
  }
  const received_at = stored?.received_at ?? null;
  const recent = longest && decodePoints(longest.tail).slice(-TREND_WINDOW);
  const reasons = healthReasonsOf({
    status: run.status,
    now,
    stale_since: run.stale_since,
    received_at,
    interval_ms: recent && medianIntervalMs(recent),
    series: parts.map(({ evidence }) => evidence),
    critical_events,
  });
  const summary: RunSummary = {
    run_id: run.id,
    status: run.status,
    step: run.step,
    epoch: run.epoch,
    max_steps: run.max_steps,
    progress: partDone(run),
    health: toHealth(reasons),
    metrics: Object.fromEntries(parts.map(({ name, metric }) => [name, metric])),
  };
  const far = parts.filter((part) => part.isFarFromBest);
  return {
    summary,
    reasons,
    far_from_best: new Set(far.map(({ name }) => name)),
    received_at,
    longest: longest && recent && toLongest(longest, recent),
  };
}

function toLongest({ name, digest }: SeriesRow, recent: readonly Point[]): LongestSeries {
  return { name, first: digest.first as DigestPoint, recent, newest_ts: digest.ts_max };
}

function toPart(row: SeriesRow, meaning: MetricMeaning): SeriesPart {
  const recent = decodeLastValues(row.tail, row.tail_count, TREND_WINDOW);
  const metric = toMetricSummary(row, recent, meaning);
  const [first, best] = [row.digest.first?.value, metric.best?.value];
  const reached =
    first !== undefined && typeof best === 'number' ? { first, best, direction: meaning.direction } : null;
  return {
    name: row.name,
    metric,
    evidence: toEvidence(row, recent),
    isFarFromBest: reached !== null && isFarFromBest(recent, reached),
  };
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
    direction,
    guessed,
    guessed_from,
    is_primary,
    count: digest.count,
  };
}
