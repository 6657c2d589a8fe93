import type { Run, RunComparison } from '@svc/contract';
import { rank, requireMetric, toBasis, toEntry, toStandings } from './comparison.js';
import { afterComparingRuns } from './next-actions.js';
import type { Parts } from './parts.js';
import type { Question } from './question.js';
import { toScope } from './scope.js';
import { bestBy } from './standing.js';
import { tiedIds } from './winner.js';

/** `best` of a run is that of its evaluations, and without them that of its training; `latest` is always of its training. */
export async function compareRuns(
  parts: Parts,
  runs: readonly Run[],
  question: Question,
): Promise<RunComparison> {
  const { ctx, evaluations, metrics, checkpoints } = parts;
  const scope = toScope(runs);
  const metric = await requireMetric(parts, scope, question);
  const evaluated = await evaluations.ofRuns(ctx.db, scope.runIds, metric, question.labels);
  const trained = await metrics.extremes(scope.runIds, metric);
  const basis = await toBasis(parts, scope, metric, question, evaluated, trained);
  const best = [...bestBy('run_id', evaluated, basis.direction).values()];
  const evaluatedIds = [...new Set(best.map(({ checkpoint_id }) => checkpoint_id))];
  const steps = new Map((await checkpoints.find(ctx.db, evaluatedIds)).map(({ id, step }) => [id, step]));
  const standings = toStandings(
    'run_id',
    scope.runIds,
    best,
    trained,
    basis.direction,
    (id) => steps.get(id) ?? null,
  );
  const candidates = runs.map(({ id, name, created_at }) => ({
    id,
    run_id: id,
    name,
    created_at,
    standing: standings.get(id) ?? null,
  }));
  const ranking = await rank(parts, candidates, basis.direction);
  return {
    ...basis,
    entries: ranking.sorted.map((candidate) => ({
      run_id: candidate.id,
      name: candidate.name,
      ...toEntry(candidate, ranking, trained.get(candidate.id)),
    })),
    best_run_id: ranking.winner?.id ?? null,
    tied_ids: tiedIds(ranking.tied),
    next_actions: afterComparingRuns(ranking, basis, question.labels),
  };
}
