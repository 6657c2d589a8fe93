import {
  guessDirection,
  toMetricValue,
  type Direction,
  type MetricValue,
  type Protocol,
} from '@svc/contract';
import { failValidation } from '@svc/kernel';
import type { EvaluatedValue } from '@svc/plugin-evaluations';
import type { Extremes } from '@svc/plugin-metrics';
import type { Parts } from './parts.js';
import { requireOneProtocol } from './protocol.js';
import type { Question } from './question.js';
import { directionOf, primaryOf, type Scope } from './scope.js';
import {
  bestBy,
  rankOf,
  sortBestFirst,
  tiedBest,
  toTrained,
  type Candidate,
  type Standing,
} from './standing.js';
import { chooseWinner } from './winner.js';

/** What the values of a comparison are of. */
export interface Basis {
  readonly metric: string;
  readonly direction: Direction;
  readonly protocol: Protocol | null;
}

/** Candidates, best first and the winner before those that tie with it. */
export interface Ranking<C extends Candidate> {
  readonly sorted: readonly C[];
  readonly tied: readonly C[];
  readonly winner: C | null;
}

/** Throws validation_error without a primary metric. */
export async function requireMetric(parts: Parts, scope: Scope, { metric }: Question): Promise<string> {
  const chosen = metric ?? (await primaryOf(parts, scope));
  if (chosen !== null) return chosen;
  const message =
    'none is given, and no primary metric is set for all of these: give one (--metric NAME, or metric in the query), or set a primary one (svc metrics set NAME --primary, or PUT /api/v1/primary-metric)';
  return failValidation({ path: 'metric', message });
}

/** The direction matters only where there are values. */
export async function toBasis(
  parts: Parts,
  scope: Scope,
  metric: string,
  { labels }: Question,
  evaluated: readonly EvaluatedValue[],
  trained: ReadonlyMap<string, Extremes>,
): Promise<Basis> {
  const protocol = requireOneProtocol(metric, evaluated, labels);
  const hasValues = evaluated.length > 0 || [...trained.values()].some(({ min }) => min !== null);
  const direction = hasValues ? await directionOf(parts, scope, metric) : guessDirection(metric).direction;
  return { metric, direction, protocol };
}

/** An evaluation that has SUCCEEDED is preferred to the training. `stepOf`: of the checkpoint of an evaluation. */
export function toStandings(
  key: 'run_id' | 'checkpoint_id',
  ids: readonly string[],
  evaluated: readonly EvaluatedValue[],
  trained: ReadonlyMap<string, Extremes>,
  direction: Direction,
  stepOf: (checkpointId: string) => number | null,
): ReadonlyMap<string, Standing | null> {
  const best = bestBy(key, evaluated, direction);
  return new Map(
    ids.map((id) => {
      const found = best.get(id);
      if (!found) return [id, toTrained(trained.get(id), direction)];
      const { value, id: evaluation_id, checkpoint_id } = found;
      return [id, { value, step: stepOf(checkpoint_id), source: 'evaluation', evaluation_id }];
    }),
  );
}

export async function rank<C extends Candidate>(
  parts: Parts,
  candidates: readonly C[],
  direction: Direction,
): Promise<Ranking<C>> {
  const sorted = sortBestFirst(candidates, direction);
  const tied = tiedBest(sorted);
  const winner = await chooseWinner(parts, tied);
  const others = sorted.filter((candidate) => candidate !== winner);
  return { sorted: winner ? [winner, ...others] : sorted, tied, winner };
}

/** The fields that entries of every kind have. */
export function toEntry(
  candidate: Candidate,
  { sorted, winner }: Ranking<Candidate>,
  latest: Extremes | undefined,
) {
  const { standing } = candidate;
  return {
    best: standing && toMetricValue(standing.value),
    best_source: standing && standing.source,
    step: standing && standing.step,
    evaluation_id: standing && standing.evaluation_id,
    rank: rankOf(candidate, sorted),
    is_best: candidate === winner,
    latest: toLatest(latest),
  };
}

function toLatest(extremes: Extremes | undefined): MetricValue | null {
  const last = extremes?.last ?? null;
  return last && toMetricValue(last.value);
}
