import type { Evaluation, Run } from '@svc/contract';
import { decision, type Db } from '@svc/kernel';

/** The evaluations that have SUCCEEDED, newest first, by the id of their checkpoint: they are shown with it. */
export const findResults = decision.firstAnswer<
  [db: Db, checkpointIds: readonly string[]],
  ReadonlyMap<string, readonly Evaluation[]>
>('checkpoints.findResults');

/** The id of the best checkpoint of a run; null for none, or when nobody can say. */
export const findBest = decision.firstAnswer<[run: Run], string | null>('checkpoints.findBest');
