import type { Direction, ValueSource } from '@svc/contract';
import type { EvaluatedValue } from '@svc/plugin-evaluations';
import type { Extremes } from '@svc/plugin-metrics';

/** A value of the metric, and where it comes from. It may be NaN or infinite when an evaluation says so. */
export interface Standing {
  readonly value: number;
  readonly step: number | null;
  readonly source: ValueSource;
  readonly evaluation_id: string | null;
}

/** What is ranked. */
export interface Candidate {
  readonly id: string;
  readonly run_id: string;
  readonly created_at: number;
  readonly standing: Standing | null;
}

/** Negative when `a` is better. A value that is not finite is worse than any that is. */
export function compareValues(direction: Direction, a: number, b: number): number {
  if (!Number.isFinite(a) || !Number.isFinite(b))
    return Number(Number.isFinite(b)) - Number(Number.isFinite(a));
  return direction === 'minimize' ? a - b : b - a;
}

/** The best value of each run or each checkpoint; among equal ones that of the older evaluation. */
export function bestBy(
  key: 'run_id' | 'checkpoint_id',
  values: readonly EvaluatedValue[],
  direction: Direction,
): Map<string, EvaluatedValue> {
  const best = new Map<string, EvaluatedValue>();
  for (const each of values) {
    const known = best.get(each[key]);
    const order = known ? compareValues(direction, each.value, known.value) : -1;
    if (order < 0 || (order === 0 && known && each.id < known.id)) best.set(each[key], each);
  }
  return best;
}

/** What the training says; null without a finite value. */
export function toTrained(extremes: Extremes | undefined, direction: Direction): Standing | null {
  const best = (direction === 'minimize' ? extremes?.min : extremes?.max) ?? null;
  return best && { value: best.value, step: best.step, source: 'training_fallback', evaluation_id: null };
}

/** Best first; of equal ones the older. Those without a value come last. */
export function sortBestFirst<C extends Candidate>(candidates: readonly C[], direction: Direction): C[] {
  return candidates.toSorted((a, b) => {
    if (!a.standing || !b.standing)
      return Number(a.standing === null) - Number(b.standing === null) || byAge(a, b);
    return compareValues(direction, a.standing.value, b.standing.value) || byAge(a, b);
  });
}

/** NaN without a finite value. */
export function bestOf(values: readonly number[], direction: Direction): number {
  return values.reduce((best, value) => (compareValues(direction, value, best) < 0 ? value : best), NaN);
}

/** Those that share the best finite value; none without one. */
export function tiedBest<C extends Candidate>(sorted: readonly C[]): C[] {
  const best = finiteValueOf(sorted[0]);
  return best === null ? [] : sorted.filter((each) => finiteValueOf(each) === best);
}

export function oldestFirst<C extends Candidate>(candidates: readonly C[]): C[] {
  return candidates.toSorted(byAge);
}

/** 1 for the best; equal values share a rank; null without a finite value. */
export function rankOf(candidate: Candidate, sorted: readonly Candidate[]): number | null {
  const value = finiteValueOf(candidate);
  return value === null ? null : sorted.findIndex((each) => finiteValueOf(each) === value) + 1;
}

export function finiteValueOf(candidate: Candidate | undefined): number | null {
  const value = candidate?.standing?.value;
  return value !== undefined && Number.isFinite(value) ? value : null;
}

function byAge(a: Candidate, b: Candidate): number {
  return a.created_at - b.created_at || (a.id < b.id ? -1 : 1);
}
