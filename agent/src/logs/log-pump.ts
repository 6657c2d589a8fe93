import { toBackoffMs } from '../core/backoff.js';

/** At most one round in this time: a job that prints line by line does not make a frame of each. */
const GAP_MS = 20;

/** Does rounds of work, one at a time, whenever it was woken; after a failure of its own accord, ever more slowly. */
export class LogPump {
  readonly #work: () => Promise<void>;
  readonly #onFailure: (error: unknown) => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  /** The round under way. */
  #round: Promise<void> | null = null;
  #isWoken = false;
  #isStopped = false;
  #endedAt = 0;
  /** Rounds that failed one after the other. */
  #failures = 0;

  constructor(work: () => Promise<void>, onFailure: (error: unknown) => Promise<void>) {
    this.#work = work;
    this.#onFailure = onFailure;
  }

  /** Who wakes it after a failure waits for the next try. */
  wake(): void {
    this.#schedule(this.#endedAt + GAP_MS - performance.now());
  }

  wakeNow(): void {
    this.#cancel();
    this.#schedule(0);
  }

  /** Resolves when no round is under way, and none comes. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#round;
  }

  #schedule(waitMs: number): NodeJS.Timeout | null {
    if (this.#isStopped) return null;
    this.#isWoken = true;
    if (this.#round !== null) return null;
    return (this.#timer ??= setTimeout(() => this.#begin(), Math.max(waitMs, 0)));
  }

  #cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #begin(): void {
    this.#timer = null;
    this.#isWoken = false;
    this.#round = this.#run();
  }

  async #run(): Promise<void> {
    try {
      await this.#work();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      await this.#onFailure(error);
    }
    this.#endedAt = performance.now();
    this.#round = null;
    if (this.#failures > 0) this.#schedule(toBackoffMs(this.#failures, Math.random()))?.unref();
    else if (this.#isWoken) this.wake();
  }
}
