import type { AttemptKey } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { LogStore } from './log-store.js';

/**
 * Compresses complete logs in the background, one at a time. It is an optimisation: a failure is retried when the next log is
 * complete, and what a shutdown interrupts is done after the next start.
 */
export class Compressor {
  readonly #queue = new Map<string, AttemptKey>();
  #isWorking = false;
  #work = Promise.resolve();

  constructor(
    private readonly ctx: Pick<PluginContext, 'log' | 'signal'>,
    private readonly store: LogStore,
  ) {}

  /** Adds the logs that earlier runs of the server did not compress. */
  async enqueueUncompressed(): Promise<void> {
    for await (const key of this.store.uncompressed()) {
      if (this.ctx.signal.aborted) return;
      this.enqueue(key);
    }
  }

  /** Compresses the log unless it is incomplete. */
  enqueue({ job_id, attempt }: AttemptKey): void {
    this.#queue.set(`${job_id}/${attempt}`, { job_id, attempt });
    if (!this.#isWorking) this.#work = this.#compressAll();
  }

  /** Resolves when no compression is running. The shutdown of the server aborts a running one. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async #compressAll(): Promise<void> {
    this.#isWorking = true;
    // The loop also visits keys that are added while it runs.
    for (const [name, key] of this.#queue) {
      if (this.ctx.signal.aborted) break;
      if (await this.#compress(key)) this.#queue.delete(name);
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
