import { setTimeout as delay } from 'node:timers/promises';

/** Keeps what many send together at so many bytes a second, by waits in between. Each has its turn, in the order in which they ask. */
export class Pace {
  readonly #bytesPerS: number;

  /** By the monotonic clock: the host's may jump. */
  #freeAt = 0;
  /** The turn of who asked last. */
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(bytesPerS: number) {
    this.#bytesPerS = bytesPerS;
  }

  /** Resolves when it is time for some more. */
  ready(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => this.#waitUntilFree());
    return this.#lastTurn;
  }

  async #waitUntilFree(): Promise<void> {
    for (let waitMs; (waitMs = this.#freeAt - performance.now()) > 0;) {
      await delay(Math.ceil(waitMs), undefined, { ref: false });
    }
  }

  /** So much was sent. */
  spend(bytes: number): void {
    this.#freeAt = Math.max(this.#freeAt, performance.now()) + (1000 * bytes) / this.#bytesPerS;
  }
}
