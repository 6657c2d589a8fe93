import {
  withoutDirection,
  type Convergence,
  type Diagnosis,
  type FailureExplanation,
  type MetricValue,
} from '@svc/contract';
import { courseOf } from '@svc/signals';

type Found = Pick<Diagnosis, 'status' | 'progress' | 'convergence' | 'anomalies' | 'last_point_at'>;

/** The answer in a few sentences. */
export function summarize(found: Found, failure: FailureExplanation | null): string {
  const sentences = [toState(found), failure?.summary ?? null, toCourse(found), toTrouble(found)];
  return withoutDirection(sentences.filter((sentence) => sentence !== null).join(' '));
}

function toState({ status, progress, last_point_at }: Found): string {
  const { step, max_steps } = progress;
  const state = `The run ${STATES[status]}`;
  if (step === null) return `${state}${last_point_at === null ? ' and has no points' : ''}.`;
  return `${state}${status === 'RUNNING' ? ' at step' : '; its last step is'} ${step}${max_steps === null ? '' : ` of ${max_steps}`}.`;
}

const STATES: Readonly<Record<Found['status'], string>> = {
  RUNNING: 'is running',
  SUCCEEDED: 'has succeeded',
  FAILED: 'has failed',
  CANCELLED: 'was cancelled',
  IMPORTED: 'was imported',
  LOST: 'is lost',
};

function toCourse({ convergence, anomalies }: Found): string | null {
  const { metric, latest, best, best_step, eval_best, eval_best_step } = convergence;
  if (metric === null) return null;
  const evaluated =
    eval_best === null ? '' : `; evaluations give ${round(eval_best)}${atStep(eval_best_step)} as the best`;
  if (latest === null) return `The training has not logged ${metric}${evaluated}.`;
  if (typeof latest === 'string') {
    const first = atStep(firstStepOf(anomalies, metric, latest));
    const before = best === null ? '' : `; its best value was ${round(best)}${atStep(best_step)}`;
    return `${metric} is ${latest}${first && `, first${first}`}${before}${evaluated}.`;
  }
  const bestText = best === null ? '' : `, best ${round(best)}${atStep(best_step)}`;
  return `${metric} ${toWords(convergence)}: it is ${round(latest)}${bestText}${evaluated}.`;
}

function toWords(convergence: Convergence): string {
  const { is_improving, is_stalled, trend, direction } = convergence;
  if (is_improving === null) return 'has no trend that is known';
  if (is_improving) return 'improves';
  if (is_stalled) return 'is level';
  return courseOf(trend, direction).is_improving || trend === 'stable'
    ? 'is worse than its best'
    : 'gets worse';
}

function firstStepOf(anomalies: Found['anomalies'], metric: string, value: MetricValue): number | null {
  const cited = anomalies.flatMap(({ evidence }) => evidence);
  const first = cited.find((each) => 'metric' in each && each.metric === metric && each.value === value);
  return first && 'step' in first ? first.step : null;
}

function atStep(step: number | null): string {
  return step === null ? '' : ` at step ${step}`;
}

/** null where nothing wrong was found, but not all is well either, or there is nothing to find it in. */
function toTrouble({ status, anomalies, convergence, last_point_at }: Found): string | null {
  const [first] = anomalies;
  const isWorse = convergence.is_improving === false && !convergence.is_stalled;
  if (!first && (isWorse || last_point_at === null)) return null;
  if (!first)
    return status === 'FAILED' || status === 'LOST' ? 'Its metrics show nothing wrong.' : 'Nothing is wrong.';
  const others = anomalies.length > 1 ? ` (the first of ${anomalies.length} findings)` : '';
  return `What needs attention: ${first.message.replace(/\.$/, '')}${others}.`;
}

function round(value: MetricValue): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(5))) : value;
}
