import { lowerBound, type MetricSeries } from './series-store.js';

interface Known {
  step: number;
  epoch: number;
}

/** How far a run is; null where it has not said. */
export interface Progress {
  readonly step: number | null;
  readonly epoch: number | null;
}

const NOWHERE: Progress = { step: null, epoch: null };

/**
 * The epoch at a step of a run, from the points that tell theirs, from metrics named `epoch`, and from how far the run is: at the first
 * step of each epoch it is known, between two of them it rises evenly, and behind the last one as before. null: nothing tells it.
 */
export function epochsOf(
  series: ReadonlyMap<string, MetricSeries>,
  progress = NOWHERE,
): ((step: number) => number) | null {
  const known = risingOnly([
    ...[...series].flatMap(([name, one]) => [
      ...pairsOf(one.steps, one.epochs ?? []),
      ...(isEpochName(name) ? pairsOf(one.steps, one.values) : []),
    ]),
    ...pairsOf([progress.step ?? 0], [progress.epoch]),
  ]);
  if (known.length === 1) known.unshift({ step: 0, epoch: 0 });
  if (known.length < 2 || known[0]!.step >= known[1]!.step) return null;
  const steps = known.map(({ step }) => step);
  return (step) => {
    const at = Math.min(Math.max(1, lowerBound(steps, step)), known.length - 1);
    const [a, b] = [known[at - 1]!, known[at]!];
    return a.epoch + ((step - a.step) / (b.step - a.step)) * (b.epoch - a.epoch);
  };
}

/** `epoch`, `train/epoch`, `trainer.epoch`; not `loss_epoch`. */
function isEpochName(name: string): boolean {
  return /(^|[/.])epoch$/i.test(name);
}

function pairsOf(steps: readonly number[], epochs: readonly (number | null)[]): Known[] {
  return epochs.flatMap((epoch, at) =>
    epoch === null || !Number.isFinite(epoch) ? [] : [{ step: steps[at]!, epoch }],
  );
}

/** The first step of each epoch. */
function risingOnly(pairs: Known[]): Known[] {
  const rising: Known[] = [];
  for (const pair of pairs.sort((a, b) => a.step - b.step || a.epoch - b.epoch)) {
    const last = rising.at(-1);
    if (!last || (pair.epoch > last.epoch && pair.step > last.step)) rising.push(pair);
  }
  return rising;
}
