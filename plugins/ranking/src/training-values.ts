import { yieldIfSliceOver } from '@svc/kernel';
import type { CheckpointPlace } from '@svc/plugin-checkpoints';
import type { Extremes, Stretch } from '@svc/plugin-metrics';
import type { Parts } from './parts.js';

/**
 * What the trainings logged of the metric for each checkpoint: behind the step of the checkpoint before it, up to its own. `all`: every
 * checkpoint of these runs. A checkpoint without a step has nothing.
 */
export async function trainingValues(
  metrics: Parts['metrics'],
  metric: string,
  all: readonly CheckpointPlace[],
  isWanted: (checkpoint: CheckpointPlace) => boolean,
): Promise<ReadonlyMap<string, Extremes>> {
  const found = new Map<string, Extremes>();
  for (const [runId, checkpoints] of byRun(all)) {
    await yieldIfSliceOver();
    const stretches = toStretches(checkpoints, isWanted);
    const extremes = await metrics.extremesWithin(runId, metric, stretches);
    const byStep = new Map(stretches.map(({ upTo }, index) => [upTo, extremes[index] as Extremes]));
    for (const checkpoint of checkpoints.filter(isWanted)) {
      const own = checkpoint.step === null ? undefined : byStep.get(checkpoint.step);
      if (own) found.set(checkpoint.id, own);
    }
  }
  return found;
}

/** Up to each distinct step that a wanted checkpoint has. */
function toStretches(
  checkpoints: readonly CheckpointPlace[],
  isWanted: (checkpoint: CheckpointPlace) => boolean,
): Stretch[] {
  const steps = [...new Set(checkpoints.flatMap(({ step }) => step ?? []))].sort((a, b) => a - b);
  const asked = new Set(checkpoints.filter(isWanted).map(({ step }) => step));
  return steps
    .map((upTo, index) => ({ after: steps[index - 1] ?? null, upTo }))
    .filter(({ upTo }) => asked.has(upTo));
}

function byRun(all: readonly CheckpointPlace[]): Map<string, CheckpointPlace[]> {
  const runs = new Map<string, CheckpointPlace[]>();
  for (const checkpoint of all) {
    const known = runs.get(checkpoint.run_id);
    if (known) known.push(checkpoint);
    else runs.set(checkpoint.run_id, [checkpoint]);
  }
  return runs;
}
