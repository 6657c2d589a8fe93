/** More reasons than a source has; what comes from outside must not make them without end. */
const MAX_REASONS = 50;
/** Of a reason; further ones are counted without their names. */
const MAX_METRICS = 20;
const NAME_CHARACTERS = 250;
const OTHER = 'other reasons';

export interface Skipped {
  readonly reason: string;
  readonly count: number;
  /** The first place, such as `points.jsonl, line 12`. */
  readonly first: string;
  /** How many of them are values of which metric; the first 20 metrics. */
  readonly metrics: Readonly<Record<string, number>>;
}

interface Entry {
  count: number;
  readonly first: string;
  readonly metrics: Map<string, number>;
}

/** What of a training is left out, by reason. */
export class Skips {
  readonly #byReason = new Map<string, Entry>();

  /** `reason` is one of few; what differs from record to record belongs into `place`. `metric`: whose values they are. */
  add(
    reason: string,
    place: string,
    { count = 1, metric }: { count?: number; metric?: string | undefined } = {},
  ): void {
    const entry = this.#entryOf(reason, place);
    entry.count += count;
    if (metric === undefined) return;
    const name = metric.slice(0, NAME_CHARACTERS);
    const known = entry.metrics.get(name) ?? 0;
    if (known > 0 || entry.metrics.size < MAX_METRICS) entry.metrics.set(name, known + count);
  }

  #entryOf(reason: string, first: string): Entry {
    const key = this.#byReason.has(reason) || this.#byReason.size < MAX_REASONS - 1 ? reason : OTHER;
    const entry = this.#byReason.get(key) ?? { count: 0, first, metrics: new Map<string, number>() };
    this.#byReason.set(key, entry);
    return entry;
  }

  list(): Skipped[] {
    return [...this.#byReason].map(([reason, { count, first, metrics }]) => ({
      reason,
      count,
      first,
      metrics: Object.fromEntries(metrics),
    }));
  }
}
