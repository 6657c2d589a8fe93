import type { Clock, Timer } from '@svc/hooks';
import type { Logger } from './logger.js';

/** A check that is late by this number of intervals means that the server stood still or the clock jumped: then silence proves nothing. */
const STANDSTILL_CHECKS = 3;

export interface SilenceWatchOptions {
  /** Those who may be silent, for the log. */
  readonly subject: string;
  readonly everyMs: number;
  /** One at a time. */
  check(): Promise<void>;
}

/**
 * Checks at intervals who has been silent for too long. Silence counts from the last sign, but not from before `listeningSince`: after a
 * restart, a standstill or a jump of the clock everybody has the whole time again.
 */
export class SilenceWatch {
  #listeningSince = 0;
  #checkedAt = 0;
  #check: Promise<void> | null = null;
  #timer: Timer | null = null;

  constructor(
    private readonly ctx: { readonly clock: Clock; readonly log: Logger },
    private readonly options: SilenceWatchOptions,
  ) {}

  get listeningSince(): number {
    return this.#listeningSince;
  }

  start(): void {
    this.#listeningSince = this.#checkedAt = this.ctx.clock.now();
    this.#timer = this.ctx.clock.setInterval(() => this.#tick(), this.options.everyMs);
  }

  /** Resolves when no check is running. */
  async close(): Promise<void> {
    this.#timer?.clear();
    await this.#check;
  }

  #tick(): void {
    this.#noteStandstill(this.ctx.clock.now());
    const { subject, check } = this.options;
    this.#check ??= check()
      .catch((err: unknown) =>
        this.ctx.log.error({ err }, `the check for silent ${subject} failed; the next one repeats it`),
      )
      .finally(() => (this.#check = null));
  }

  #noteStandstill(now: number): void {
    const sinceLastCheck = now - this.#checkedAt;
    if (sinceLastCheck > STANDSTILL_CHECKS * this.options.everyMs || sinceLastCheck < 0)
      this.#listeningSince = now;
    this.#checkedAt = now;
  }
}
