import type { Clock } from '@svc/kernel';
import type { PartialFrame } from '@svc/contract';

const SECOND_MS = 1_000;
/** An agent sends one. */
const MAX_PER_SECOND = 10;
const MAX_STREAMS = 10_000;

/** Counts the partial lines of each stream within a second, so that more than an agent sends cost nothing but their parsing. */
export class PartialPace {
  readonly #counts = new Map<string, number>();
  #since = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** False: it is one too many. */
  take({ job_id, attempt, stream }: PartialFrame, nodeId: string): boolean {
    const now = this.clock.now();
    if (Math.abs(now - this.#since) >= SECOND_MS || this.#counts.size >= MAX_STREAMS) {
      this.#counts.clear();
      this.#since = now;
    }
    const name = `${nodeId}/${job_id}/${attempt}/${stream}`;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count <= MAX_PER_SECOND;
  }
}
