/** More reasons than a source has; what comes from outside must not make them without end. */
const MAX_REASONS = 50;

export interface Skipped {
  readonly reason: string;
  readonly count: number;
  /** The first place, such as `points.jsonl, line 12`. */
  readonly first: string;
}

/** What of a training is left out, by reason. */
export class Skips {
  readonly #byReason = new Map<string, { count: number; readonly first: string }>();

  /** `reason` is one of few; what differs from record to record belongs into `place`. */
  add(reason: string, place: string, count = 1): void {
    const known = this.#byReason.get(reason);
    if (known) known.count += count;
    else if (this.#byReason.size < MAX_REASONS) this.#byReason.set(reason, { count, first: place });
    else this.#byReason.get([...this.#byReason.keys()].at(-1) as string)!.count += count;
  }

  get count(): number {
    return this.list().reduce((sum, { count }) => sum + count, 0);
  }

  list(): Skipped[] {
    return [...this.#byReason].map(([reason, { count, first }]) => ({ reason, count, first }));
  }
}
