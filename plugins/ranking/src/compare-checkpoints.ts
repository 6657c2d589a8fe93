import type { CheckpointComparison, Run } from '@svc/contract';
import type { FoundCheckpoint } from '@svc/plugin-checkpoints';
import { rank, requireMetric, toBasis, toEntry, toStandings } from './comparison.js';
import { afterComparingCheckpoints } from './next-actions.js';
import type { Parts } from './parts.js';
import type { Question } from './question.js';
import { toScope } from './scope.js';
import { trainingValues } from './training-values.js';
import { tiedIds } from './winner.js';

/** `best` of a checkpoint is that of its evaluations, and without them that of its training; `latest` is always of its training. */
export async function compareCheckpoints(
  parts: Parts,
  checkpoints: readonly FoundCheckpoint[],
  runs: readonly Run[],
  question: Question,
): Promise<CheckpointComparison> {
  const { db } = parts.ctx;
  const scope = toScope(runs);
  const metric = await requireMetric(parts, scope, question);
  const ids = checkpoints.map(({ id }) => id);
  const evaluated = await parts.evaluations.ofCheckpoints(db, ids, metric, question.labels);
  const places = await parts.checkpoints.ofRuns(db, scope.runIds);
  const trained = await trainingValues(parts.metrics, metric, places, ({ id }) => ids.includes(id));
  const basis = await toBasis(parts, scope, metric, question, evaluated, trained);
  const steps = new Map(checkpoints.map(({ id, step }) => [id, step]));
  const stepOf = (id: string) => steps.get(id) ?? null;
  const standings = toStandings('checkpoint_id', ids, evaluated, trained, basis.direction, stepOf);
  const candidates = checkpoints.map(({ id, run_id, path, created_at }) => ({
    id,
    run_id,
    created_at,
    name: toName(path),
    standing: standings.get(id) ?? null,
  }));
  const ranking = await rank(parts, candidates, basis.direction);
  return {
    ...basis,
    entries: ranking.sorted.map((candidate) => ({
      checkpoint_id: candidate.id,
      run_id: candidate.run_id,
      name: candidate.name,
      ...toEntry(candidate, ranking, trained.get(candidate.id)),
    })),
    best_checkpoint_id: ranking.winner?.id ?? null,
    tied_ids: tiedIds(ranking.tied),
    next_actions: await afterComparingCheckpoints(parts, ranking, basis, evaluated),
  };
}

function toName(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}
