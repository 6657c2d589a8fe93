import type { Checkpoint, Evaluation, ListedCheckpoint, Run } from '@svc/contract';
import { LIST_BYTES, type Listed, type Page, type PluginContext } from '@svc/kernel';
import { findBest, findResults } from './hooks.js';
import { listCheckpoints } from './store.js';

/** So many at a time: the results of evaluations may be large. */
const CHECKPOINTS_PER_READ = 4;

type ShownContext = Pick<PluginContext, 'db' | 'fire'>;

/** With the results of its evaluations. */
export async function withResults(ctx: ShownContext, checkpoint: Checkpoint): Promise<Checkpoint> {
  return attach(checkpoint, await ctx.fire(findResults, ctx.db, [checkpoint.id]));
}

/** Newest first, each with the results of its evaluations, as many as fit in an answer, and the best of the run marked. */
export async function listShown(ctx: ShownContext, run: Run, page: Page): Promise<Listed<ListedCheckpoint>> {
  const { items, ...rest } = await listCheckpoints(ctx.db, run.id, page);
  const best = items.length === 0 ? null : await ctx.fire(findBest, run);
  const shown: ListedCheckpoint[] = [];
  let sizeChars = 0;
  for (let first = 0; first < items.length; first += CHECKPOINTS_PER_READ) {
    const some = items.slice(first, first + CHECKPOINTS_PER_READ);
    const results = await ctx.fire(
      findResults,
      ctx.db,
      some.map(({ id }) => id),
    );
    for (const checkpoint of some) {
      const listed = { ...attach(checkpoint, results), is_best: checkpoint.id === best };
      sizeChars += JSON.stringify(listed).length;
      if (sizeChars > LIST_BYTES && shown.length > 0) return { items: shown, truncated: true };
      shown.push(listed);
    }
  }
  return { items: shown, ...rest };
}

function attach(
  checkpoint: Checkpoint,
  results: ReadonlyMap<string, readonly Evaluation[]> | undefined,
): Checkpoint {
  const evaluations = [...(results?.get(checkpoint.id) ?? [])];
  return { ...checkpoint, metadata: { ...checkpoint.metadata, evaluations } };
}
