import type { NodeRecord, Run, WatchedJob } from '@svc/contract';
import type { LineBatch } from '@svc/plugin-logs';
import type { PointBatch } from '@svc/plugin-metrics';
import type { SampleBatch } from '@svc/plugin-node-metrics';

/** What other plugins have reported. */
export type Happening =
  | ({ readonly kind: 'points' } & PointBatch)
  | ({ readonly kind: 'lines' } & LineBatch)
  | ({ readonly kind: 'samples' } & SampleBatch)
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'runDeleted'; readonly id: string }
  | { readonly kind: 'job'; readonly job: WatchedJob; readonly previousAttempt: number | null }
  | { readonly kind: 'node'; readonly node: NodeRecord }
  | { readonly kind: 'tick' };

/** So many points and samples may wait, or lines of so many characters together. */
const MAX_WAITING = 500_000;
const MAX_WAITING_CHARS = 64 * 1024 * 1024;
const WEIGHT_OF_CHAR = MAX_WAITING / MAX_WAITING_CHARS;

/** What waits to be looked at, in order. When too much waits, the oldest points, lines and samples are dropped; changes of state never are. */
export class Waiting {
  #queue: Happening[] = [];
  #next = 0;
  #weight = 0;
  /** How many were dropped. */
  dropped = 0;

  add(happening: Happening): void {
    this.#queue.push(happening);
    this.#weight += weightOf(happening);
    if (this.#weight > MAX_WAITING) this.#drop();
  }

  take(): Happening | null {
    const happening = this.#queue[this.#next];
    if (happening === undefined) return null;
    this.#next += 1;
    this.#weight -= weightOf(happening);
    if (this.#next >= 1024 || this.#next === this.#queue.length) {
      this.#queue = this.#queue.slice(this.#next);
      this.#next = 0;
    }
    return happening;
  }

  #drop(): void {
    const kept: Happening[] = [];
    for (const happening of this.#queue.slice(this.#next)) {
      const weight = weightOf(happening);
      if (this.#weight <= MAX_WAITING / 2 || weight === 0) kept.push(happening);
      else {
        this.#weight -= weight;
        this.dropped += countOf(happening);
      }
    }
    this.#queue = kept;
    this.#next = 0;
  }
}

function countOf(happening: Happening): number {
  if (happening.kind === 'points') return happening.points.length;
  if (happening.kind === 'lines') return happening.lines.length;
  return happening.kind === 'samples' ? happening.ts.length : 0;
}

function weightOf(happening: Happening): number {
  if (happening.kind !== 'lines') return countOf(happening);
  return happening.lines.reduce((sum, { text }) => sum + 1 + text.length * WEIGHT_OF_CHAR, 0);
}
