import type { MetricPoint } from '@svc/contract';

interface Entry<Kept> {
  readonly kept: Kept;
  seq: number;
  step: number;
}

/** So many metrics of one run are followed; further ones are not looked at. */
export const MAX_METRICS = 100;

/** What is kept for each metric of a run, for a bounded number of them. */
export class ByMetric<Kept> {
  readonly #entries = new Map<string, Entry<Kept>>();

  constructor(private readonly create: (name: string) => Kept) {}

  /**
   * null for a point that arrives late, behind newer ones: it says nothing of the present. A step that goes back under a newer seq is a training
   * that has gone back.
   */
  next({ name, seq, step }: MetricPoint): Kept | null {
    const known = this.#entries.get(name);
    if (known === undefined) {
      if (this.#entries.size >= MAX_METRICS) return null;
      const kept = this.create(name);
      this.#entries.set(name, { kept, seq, step });
      return kept;
    }
    if (seq < known.seq && step < known.step) return null;
    known.seq = Math.max(known.seq, seq);
    known.step = step;
    return known.kept;
  }
}
