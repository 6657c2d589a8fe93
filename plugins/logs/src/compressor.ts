import type { AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { LogStore } from './log-store.js';

/**
 * Compresses logs that are complete, one at a time, while nobody waits for it. A log is whole without it: what fails is tried again
 * with the next one that is complete, and what the end of the server cuts short is taken up when it starts again.
 */
export class Compressor {
  readonly #wanted = new Map<string, AttemptKey>();
  #isWorking = false;
  #work = Promise.resolve();

  constructor(
    private readonly ctx: Pick<PluginContext, 'log' | 'signal'>,
    private readonly store: LogStore,
  ) {}

  /** What earlier servers have left. */
  async takeUp(): Promise<void> {
    for await (const key of this.store.uncompressed()) {
      if (this.ctx.signal.aborted) return;
      this.want(key);
    }
  }

  /** Does nothing for a log that is not complete. */
  want({ job_id, attempt }: AttemptKey): void {
    this.#wanted.set(`${job_id}/${attempt}`, { job_id, attempt });
    if (!this.#isWorking) this.#work = this.#compressAll();
  }

  /** Resolves when nothing is being compressed: soon, once the server closes. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async #compressAll(): Promise<void> {
    this.#isWorking = true;
    // What is wanted meanwhile comes at the end of the same round.
    for (const [name, key] of this.#wanted) {
      if (this.ctx.signal.aborted) break;
      if (await this.#compress(key)) this.#wanted.delete(name);
    }
    this.#isWorking = false;
  }

  async #compress({ job_id, attempt }: AttemptKey): Promise<boolean> {
    const { log, signal } = this.ctx;
    try {
      await this.store.with(job_id, attempt, (attemptLog) => attemptLog.compress(signal));
      return true;
    } catch (err) {
      if (!signal.aborted) log.error({ err, job_id, attempt }, 'a complete log cannot be compressed');
      return false;
    }
  }
}
