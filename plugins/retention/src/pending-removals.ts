import type { PluginContext, Timer } from '@svc/kernel';
import type { Remover } from './removal.js';
import type { Turns } from './turns.js';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Completes the removals that failed after they had been decided, or that the server before this one has left. */
export class PendingRemovals {
  #pauseMs = FIRST_PAUSE_MS;
  #timer: Timer | null = null;

  constructor(
    private readonly ctx: Pick<PluginContext, 'clock' | 'log' | 'signal'>,
    private readonly remover: Pick<Remover, 'pending' | 'resume'>,
    private readonly turns: Turns,
  ) {}

  /** They are known to the remover when the promise resolves, and completed later. */
  async begin(): Promise<void> {
    void this.#resume(await this.remover.pending());
  }

  /** Each time in a row after twice the pause. */
  tryLater(): void {
    if (this.#timer || this.ctx.signal.aborted) return;
    this.#timer = this.ctx.clock.setTimeout(() => {
      this.#timer = null;
      void this.begin().catch((error: unknown) => this.#complain(error));
    }, this.#pauseMs);
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }

  close(): void {
    this.#timer?.clear();
  }

  /** One that fails does not hold up the others. */
  async #resume(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (this.ctx.signal.aborted) return;
      await this.turns
        .take(() => this.remover.resume(id))
        .catch((error: unknown) => this.#complain(error, id));
    }
    if (!this.#timer) this.#pauseMs = FIRST_PAUSE_MS;
  }

  #complain(err: unknown, id?: string): void {
    this.ctx.log.error({ err, id }, 'a removal that was begun before cannot be completed; it is tried again');
    this.tryLater();
  }
}
