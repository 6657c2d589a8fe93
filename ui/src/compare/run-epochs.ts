import { epochsOf } from '../chart/epochs.js';
import type { MetricSeries } from '../chart/series-store.js';
import type { ShownRun } from './shown-run.js';

type EpochAt = ((step: number) => number) | null;

/** The epoch at a step of each run, from the points that are there. */
export class RunEpochs {
  readonly #held = new Map<string, { readonly key: readonly unknown[]; readonly epochAt: EpochAt }>();

  /** The same function until other points are there. `isWhole`: they are of the whole run; those of a part tell it only while nothing else does. */
  of({ id, run }: ShownRun, series: ReadonlyMap<string, MetricSeries>, isWhole: boolean): EpochAt {
    const held = this.#held.get(id);
    if (held?.epochAt && !isWhole) return held.epochAt;
    const key = [run.step, run.epoch, ...series.values()];
    if (held && held.key.length === key.length && held.key.every((part, at) => part === key[at]))
      return held.epochAt;
    const epochAt = epochsOf(series, { step: run.step, epoch: run.epoch });
    this.#held.set(id, { key, epochAt });
    return epochAt;
  }
}
