import type { RunHealth, RunStatus } from '@svc/contract';

/** What the health of a run is judged by. Times in ms since the epoch. */
export interface HealthEvidence {
  readonly status: RunStatus;
  readonly now: number;
  /** When the last points came in, by the server's clock; null without any. */
  readonly received_at: number | null;
  /** The time between the last points of the run's busiest series, in ms; null while there are too few to tell. */
  readonly interval_ms: number | null;
  readonly series: readonly SeriesEvidence[];
  /** Events of severity critical, newest first. */
  readonly critical_events: readonly { readonly title: string }[];
}

/** A point, as far as a reason names it. */
interface Place {
  readonly step: number;
  readonly value: number;
}

export interface SeriesEvidence {
  readonly name: string;
  /** What the series has of values that are not finite: how many are NaN, and the first point of each kind. */
  readonly digest: {
    readonly nan_count: number;
    readonly nan: Place | null;
    readonly inf: Place | null;
    readonly neg_inf: Place | null;
  };
  /** Where a loss has jumped lately, and from what. */
  readonly spike: (Place & { readonly median: number }) | null;
}

const STALE_INTERVALS = 10;
const STALE_AT_LEAST_MS = 5 * 60_000;
const MAX_REASONS = 20;

/**
 * critical: a NaN was logged, or there is a critical event. stale: RUNNING and silent for 10 times its median interval and 5 minutes.
 * warning: an infinity was logged, or a loss has jumped lately (see `spike.ts`).
 */
export function healthOf(evidence: HealthEvidence): RunHealth {
  const nan = evidence.series.filter(({ digest }) => digest.nan).map(toNanReason);
  const critical = [...nan, ...evidence.critical_events.map(({ title }) => title)];
  const stale = staleReasons(evidence);
  const warning = [...evidence.series.flatMap(toInfinityReasons), ...evidence.series.flatMap(toSpikeReasons)];
  const reasons = [...critical, ...stale, ...warning].slice(0, MAX_REASONS);
  if (critical.length > 0) return { status: 'critical', reasons };
  if (stale.length > 0) return { status: 'stale', reasons };
  return { status: warning.length > 0 ? 'warning' : 'ok', reasons };
}

function toNanReason({ name, digest }: SeriesEvidence): string {
  const points = digest.nan_count === 1 ? '1 point' : `${digest.nan_count} points`;
  return `${name} is NaN from step ${digest.nan?.step} on (${points})`;
}

function toInfinityReasons({ name, digest }: SeriesEvidence): string[] {
  const places = [digest.inf, digest.neg_inf].filter((place) => place !== null);
  return places.map(({ value, step }) => `${name} is ${value} at step ${step}`);
}

function toSpikeReasons({ name, spike }: SeriesEvidence): string[] {
  if (!spike) return [];
  const [value, usual] = [spike.value, spike.median].map((number) => Number(number.toPrecision(4)));
  return [`${name} jumped to ${value} at step ${spike.step}; before, its median was ${usual}`];
}

function staleReasons({ status, now, received_at, interval_ms }: HealthEvidence): string[] {
  if (status !== 'RUNNING' || received_at === null || interval_ms === null) return [];
  const silentMs = now - received_at;
  if (silentMs < STALE_AT_LEAST_MS || silentMs < STALE_INTERVALS * interval_ms) return [];
  const usual = Math.max(1, Math.round(interval_ms / 1000));
  return [`no point for ${Math.round(silentMs / 1000)} s; before, one came about every ${usual} s`];
}

/** The median time between the last points of a series, in ms; null when they share one moment. */
export function medianIntervalMs(points: readonly { readonly ts: number }[]): number | null {
  const times = [...new Set(points.map(({ ts }) => ts))].sort((a, b) => a - b);
  const gaps = times.slice(1).map((ts, index) => ts - (times[index] as number));
  return gaps.length === 0 ? null : (gaps.sort((a, b) => a - b)[gaps.length >>> 1] as number);
}
