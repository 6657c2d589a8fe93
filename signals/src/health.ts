import type { RunHealth, RunStatus } from '@svc/contract';

/** The input of `healthOf`. Times are in ms since the epoch. */
export interface HealthEvidence {
  readonly status: RunStatus;
  readonly now: number;
  /** The last sign of life of a run that has not given one for too long; null otherwise, and for a run from which none is expected. */
  readonly stale_since: number | null;
  /** When the server received the last points; null without any. */
  readonly received_at: number | null;
  /** The median time between the last points of the series with the most points, in ms; null while there are too few. */
  readonly interval_ms: number | null;
  readonly series: readonly SeriesEvidence[];
  /** Events of severity critical, newest first. */
  readonly critical_events: readonly { readonly title: string }[];
}

/** The part of a point that a reason names. */
interface StepValue {
  readonly step: number;
  readonly value: number;
}

export interface SeriesEvidence {
  readonly name: string;
  /** The values of the series that are not finite: the number of NaN, and the first point of each kind. */
  readonly digest: {
    readonly nan_count: number;
    readonly nan: StepValue | null;
    readonly inf: StepValue | null;
    readonly neg_inf: StepValue | null;
  };
  /** The newest spike of a loss, and the median before it. */
  readonly spike: (StepValue & { readonly median: number }) | null;
}

const STALE_INTERVALS = 10;
const STALE_AT_LEAST_MS = 5 * 60_000;
const MAX_REASONS = 20;

/**
 * critical: a NaN was logged, or there is a critical event. stale: RUNNING, and without signs of life or without points for 10
 * times its median interval and 5 minutes.
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
  const infinite = [digest.inf, digest.neg_inf].filter((point) => point !== null);
  return infinite.map(({ value, step }) => `${name} is ${value} at step ${step}`);
}

function toSpikeReasons({ name, spike }: SeriesEvidence): string[] {
  if (!spike) return [];
  const [value, usual] = [spike.value, spike.median].map((number) => Number(number.toPrecision(4)));
  return [`${name} jumped to ${value} at step ${spike.step}; before, its median was ${usual}`];
}

function staleReasons({ status, now, stale_since, received_at, interval_ms }: HealthEvidence): string[] {
  if (stale_since !== null) return [`nothing has come from the run for ${toSeconds(now - stale_since)} s`];
  if (status !== 'RUNNING' || received_at === null || interval_ms === null) return [];
  const silentMs = now - received_at;
  if (silentMs < silenceLimitMs(interval_ms)) return [];
  const usual = Math.max(1, Math.round(interval_ms / 1000));
  return [`no point for ${toSeconds(silentMs)} s; before, one came about every ${usual} s`];
}

/** How long a run that usually reports at such intervals may be silent. */
export function silenceLimitMs(intervalMs: number): number {
  return Math.max(STALE_AT_LEAST_MS, STALE_INTERVALS * intervalMs);
}

function toSeconds(durationMs: number): number {
  return Math.round(durationMs / 1000);
}

/** The median time between the points, in ms; null when all have the same time. */
export function medianIntervalMs(points: readonly { readonly ts: number }[]): number | null {
  const times = [...new Set(points.map(({ ts }) => ts))].sort((a, b) => a - b);
  const gaps = times.slice(1).map((ts, index) => ts - (times[index] as number));
  return gaps.length === 0 ? null : (gaps.sort((a, b) => a - b)[gaps.length >>> 1] as number);
}
