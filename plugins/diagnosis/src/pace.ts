import {
  toMetricValue,
  type Anomaly,
  type RunProgressRecord,
  type RunSummary,
  type Throughput,
} from '@svc/contract';
import type { LongestSeries } from '@svc/plugin-metrics';
import { hasBecomeSlow, paceBetween, paceOf, timeLeftOf, type Pace } from '@svc/signals';

/** null without enough points, and when the steps went back: then the newest points are not the last ones. */
export function paceOfRun(longest: LongestSeries | null): Pace | null {
  if (longest === null || longest.recent.every(({ ts }) => ts < longest.newest_ts)) return null;
  return paceOf(longest.recent);
}

export function progressOf(
  { status, step, max_steps, epoch, progress }: RunSummary,
  longest: LongestSeries | null,
  pace: Pace | null,
): RunProgressRecord {
  const isKnown = status === 'RUNNING' && step !== null && max_steps !== null && pace !== null;
  return {
    step,
    max_steps,
    epoch,
    fraction: progress,
    steps_per_s: pace?.steps_per_s ?? null,
    time_left: isKnown ? timeLeftOf(pace, overallPace(longest), Math.max(0, max_steps - step)) : null,
  };
}

export function throughputOf(longest: LongestSeries | null, pace: Pace | null): Throughput | null {
  const from = longest?.recent[0];
  if (!longest || !from || !pace) return null;
  const before = paceBetween(longest.first, from);
  return {
    metric: longest.name,
    from_step: from.step,
    steps_per_s: pace.steps_per_s,
    before_steps_per_s: before > 0 ? before : null,
    change: before > 0 ? pace.steps_per_s / before - 1 : null,
  };
}

export function slowness(
  throughput: Throughput | null,
  longest: LongestSeries | null,
  pace: Pace | null,
): Anomaly | null {
  const from = longest?.recent[0];
  const before = throughput?.before_steps_per_s ?? null;
  if (!from || !longest || !pace || before === null) return null;
  if (!hasBecomeSlow(pace, before, longest.newest_ts - from.ts)) return null;
  const [now, then] = [pace.steps_per_s, before].map((rate) => Number(rate.toPrecision(3)));
  return {
    kind: 'slow',
    severity: 'warning',
    message: `since step ${from.step} the run makes ${now} steps per second; before, it made ${then}`,
    evidence: [{ metric: longest.name, step: from.step, value: toMetricValue(from.value) }],
    fixes: [],
  };
}

/** Over the whole run; 0 when it is not known. */
function overallPace(longest: LongestSeries | null): number {
  const last = longest?.recent.at(-1);
  return longest && last ? paceBetween(longest.first, last) : 0;
}
