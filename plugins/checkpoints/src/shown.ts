import type { Checkpoint, Evaluation, ListedCheckpoint, Run } from '@svc/contract';
import { LIST_BYTES, type Listed, type Page, type PluginContext } from '@svc/kernel';
import type { Runs } from '@svc/plugin-runs';
import { findBest, findResults } from './hooks.js';
import { listCheckpoints, type CheckpointFilter } from './store.js';

/** So many at a time: the results of evaluations may be large. */
const CHECKPOINTS_PER_READ = 4;

type ShownContext = Pick<PluginContext, 'db' | 'fire'>;

/** With the results of its evaluations. */
export async function withResults(ctx: ShownContext, checkpoint: Checkpoint): Promise<Checkpoint> {
  return attach(checkpoint, await ctx.fire(findResults, ctx.db, [checkpoint.id]));
}

/** Newest first, each with the results of its evaluations, as many as fit in an answer, and the best of the run marked. */
export async function listShown(
  ctx: ShownContext,
  runs: Runs,
  run: Run,
  page: Page,
): Promise<Listed<ListedCheckpoint>> {
  const listed = await listCheckpoints(ctx.db, runs, { run_id: run.id }, page);
  const best = listed.items.length === 0 ? null : await ctx.fire(findBest, run);
  return attachAll(ctx, listed, (checkpoint) => ({ ...checkpoint, is_best: checkpoint.id === best }));
}

/** As the list of a run. None is marked: each run would have to be ranked. */
export async function listOfRuns(
  ctx: ShownContext,
  runs: Runs,
  filter: CheckpointFilter,
  page: Page,
): Promise<Listed<Checkpoint>> {
  return attachAll(ctx, await listCheckpoints(ctx.db, runs, filter, page), (checkpoint) => checkpoint);
}

async function attachAll<T extends Checkpoint>(
  ctx: ShownContext,
  { items, ...rest }: Listed<Checkpoint>,
  toListed: (checkpoint: Checkpoint) => T,
): Promise<Listed<T>> {
  const shown: T[] = [];
  let sizeChars = 0;
  for (let first = 0; first < items.length; first += CHECKPOINTS_PER_READ) {
    const some = items.slice(first, first + CHECKPOINTS_PER_READ);
    const ids = some.map(({ id }) => id);
    const results = await ctx.fire(findResults, ctx.db, ids);
    for (const checkpoint of some) {
      const listed = toListed(attach(checkpoint, results));
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
