import type { Citation, MetricValue, RunHealth, RunStatus } from '@svc/contract';
import { withoutDirection } from '@svc/contract/protocol';

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
  readonly critical_events: readonly CriticalEvent[];
}

interface CriticalEvent {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly data: object;
}

/** The part of a point that a reason names. */
interface StepValue {
  readonly step: number;
  readonly value: number;
}

export interface SeriesEvidence {
  readonly name: string;
  /** The last point, and the values of the series that are not finite: the number of NaN, and the first point of each kind. */
  readonly digest: {
    readonly last: StepValue | null;
    readonly nan_count: number;
    readonly nan: StepValue | null;
    readonly inf: StepValue | null;
    readonly neg_inf: StepValue | null;
  };
  /** The newest spike of a loss, and the median before it. */
  readonly spike: (StepValue & { readonly median: number }) | null;
}

/** Why a run is not healthy, with the evidence for it. */
export interface HealthReason {
  readonly status: Exclude<RunHealth['status'], 'ok'>;
  readonly kind: 'nan' | 'event' | 'silence' | 'infinity' | 'spike';
  readonly message: string;
  readonly evidence: readonly Citation[];
}

const STALE_INTERVALS = 10;
const STALE_AT_LEAST_MS = 5 * 60_000;
const MAX_REASONS = 20;

/** The worst reason decides. */
export function healthOf(evidence: HealthEvidence): RunHealth {
  return toHealth(healthReasonsOf(evidence));
}

export function toHealth(reasons: readonly HealthReason[]): RunHealth {
  return { status: reasons[0]?.status ?? 'ok', reasons: reasons.map(({ message }) => message) };
}

/**
 * The worst first. critical: a metric is NaN, a metric is infinite of which LOSS_NAN tells, or there is a critical event that tells of something else. stale: RUNNING,
 * and without signs of life or without points for 10 times its median interval and 5 minutes. warning: a metric was NaN or infinite and is finite again, another is
 * infinite, or a loss has jumped lately (see `spike.ts`).
 */
export function healthReasonsOf(evidence: HealthEvidence): HealthReason[] {
  const { series, critical_events } = evidence;
  const nonFinite = new Set(series.filter(isNonFinite).map(({ name }) => name));
  const lost = new Set(critical_events.map(lostMetricOf));
  const infinities = series.flatMap((each) =>
    toInfinityReasons(each, lost.has(each.name) && !each.digest.nan),
  );
  const nans = series.flatMap(toNanReasons);
  return toShown([
    ...nans.filter(({ status }) => status === 'critical'),
    ...infinities.filter(({ status }) => status === 'critical'),
    ...critical_events.filter((event) => !nonFinite.has(lostMetricOf(event) ?? '')).map(toEventReason),
    ...silenceReasons(evidence),
    ...nans.filter(({ status }) => status === 'warning'),
    ...infinities.filter(({ status }) => status === 'warning'),
    ...series.flatMap(toSpikeReasons),
  ]);
}

/** The worst ones; the last of them says how many are left out. */
function toShown(reasons: readonly HealthReason[]): HealthReason[] {
  const rest = reasons.length - MAX_REASONS;
  return reasons.slice(0, MAX_REASONS).map(({ message, ...reason }, at) => {
    const isCut = rest > 0 && at === MAX_REASONS - 1;
    const text = isCut ? `${message}; ${rest} more are not listed` : message;
    return { ...reason, message: withoutDirection(text) };
  });
}

function isNonFinite({ digest: { nan, inf, neg_inf } }: SeriesEvidence): boolean {
  return (nan ?? inf ?? neg_inf) !== null;
}

/** The metric that the event says is NaN or infinite. */
function lostMetricOf({ type, data }: CriticalEvent): string | null {
  return type === 'LOSS_NAN' && 'metric' in data ? String(data.metric) : null;
}

/** A digest does not say which points lie between two NaN: one at the end counts as the end of all that are finite. */
function toNanReasons({ name, digest: { nan, nan_count, last } }: SeriesEvidence): HealthReason[] {
  if (!nan) return [];
  const isOver = isFiniteAgain(last);
  const points = nan_count === 1 ? '1 point' : `${nan_count} points`;
  const message = isOver
    ? `${name} was NaN ${nan_count === 1 ? 'at' : 'first at'} step ${nan.step} (${points}), and is finite again`
    : `${name} is NaN from step ${nan.step} on (${points})`;
  return [{ status: isOver ? 'warning' : 'critical', kind: 'nan', message, evidence: [cite(name, nan)] }];
}

function toEventReason({ id, title }: CriticalEvent): HealthReason {
  return { status: 'critical', kind: 'event', message: title, evidence: [{ event_id: id }] };
}

function isFiniteAgain(last: StepValue | null): boolean {
  return last !== null && Number.isFinite(last.value);
}

function toInfinityReasons({ name, digest }: SeriesEvidence, isCritical: boolean): HealthReason[] {
  const infinite = [digest.inf, digest.neg_inf].filter((point) => point !== null);
  const isOver = isFiniteAgain(digest.last);
  return infinite.map((point) => ({
    status: isCritical && !isOver ? 'critical' : 'warning',
    kind: 'infinity',
    message: isOver
      ? `${name} was ${point.value} at step ${point.step}, and is finite again`
      : `${name} is ${point.value} at step ${point.step}`,
    evidence: [cite(name, point)],
  }));
}

function toSpikeReasons({ name, spike }: SeriesEvidence): HealthReason[] {
  if (!spike) return [];
  const [value, usual] = [spike.value, spike.median].map((number) => Number(number.toPrecision(4)));
  const message = `${name} jumped to ${value} at step ${spike.step}; before, its median was ${usual}`;
  return [{ status: 'warning', kind: 'spike', message, evidence: [cite(name, spike)] }];
}

function cite(metric: string, { step, value }: StepValue): Citation {
  return { metric, step, value: Number.isFinite(value) ? value : (String(value) as MetricValue) };
}

function silenceReasons({
  status,
  now,
  stale_since,
  received_at,
  interval_ms,
}: HealthEvidence): HealthReason[] {
  const toReason = (message: string, field: string, at: number): HealthReason => ({
    status: 'stale',
    kind: 'silence',
    message,
    evidence: [{ field, value: new Date(at).toISOString() }],
  });
  if (stale_since !== null) {
    const message = `nothing has come from the run for ${toSeconds(now - stale_since)} s`;
    return [toReason(message, 'stale_since', stale_since)];
  }
  if (status !== 'RUNNING' || received_at === null || interval_ms === null) return [];
  const silentMs = now - received_at;
  if (silentMs < silenceLimitMs(interval_ms)) return [];
  const usual = Math.max(1, Math.round(interval_ms / 1000));
  const message = `no point for ${toSeconds(silentMs)} s; before, one came about every ${usual} s`;
  return [toReason(message, 'last_point_at', received_at)];
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
