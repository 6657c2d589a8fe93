import { ApiError, retryDelayMs } from '@svc/client';
import { warnOnce } from './notices.js';
import type { Outbox } from './outbox.js';
import type { Batch } from './records.js';
import type { Sink } from './sink.js';

const LINGER_MS = 300;
const LONGEST_ASKED_PAUSE_MS = 300_000;
const TRIES_BEFORE_WARNING = 5;
/** A defect of the server that one batch brings out must not hold up all that comes after it. */
const TRIES_AT_SERVER_FAULT = 8;

/** Sends batch by batch, each until it is taken, refused or given up. The same batch always goes as it was. */
export class Sender {
  #isRunning = false;
  #isAbandoned = false;
  #linger: NodeJS.Timeout | null = null;
  /** Ends the pause between two tries. */
  #hurry: (() => void) | null = null;
  #onIdle: (() => void)[] = [];

  constructor(
    private readonly outbox: Outbox,
    private readonly sink: Sink,
  ) {}

  /** Something has been put into the outbox. */
  wake(): void {
    if (this.#isRunning || this.#isAbandoned) return;
    if (this.outbox.isWorthSending) this.#start();
    else this.#linger ??= setTimeout(() => this.#start(), LINGER_MS).unref();
  }

  /** Resolves with whether all was dealt with in that time. Must hold: the timer keeps the process alive meanwhile. */
  flush(timeoutMs: number): Promise<boolean> {
    this.#start();
    this.#hurry?.();
    if (this.outbox.isEmpty) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      this.#onIdle.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /** Sends nothing more. */
  abandon(): void {
    this.#isAbandoned = true;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#hurry?.();
  }

  #start(): void {
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#linger = null;
    if (this.#isRunning || this.#isAbandoned || !this.outbox.hasWaiting) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    for (let batch = this.outbox.take(); batch !== null; batch = this.outbox.take()) {
      await this.#deliver(batch);
      if (this.#isAbandoned) break;
      this.outbox.done();
    }
    this.#isRunning = false;
    for (const tell of this.#onIdle.splice(0)) tell();
  }

  async #deliver(batch: Batch): Promise<void> {
    await complete(batch);
    let serverFaults = 0;
    for (let tries = 1; !this.#isAbandoned; tries += 1) {
      try {
        return await this.sink.send(batch);
      } catch (error) {
        // Once it is abandoned the batch is in the hands of whoever abandoned it.
        if (this.#isAbandoned) return;
        if (!(error instanceof ApiError)) return this.#keep(batch, String(error));
        if (error.status === 500 && ++serverFaults === TRIES_AT_SERVER_FAULT)
          return this.#keep(batch, `the server keeps failing: ${error.message}`);
        if (tries === TRIES_BEFORE_WARNING) warnUndelivered(this.sink.keptIn, error.message);
        await this.#pause(error.retryAfterMs, tries);
      }
    }
  }

  #keep(batch: Batch, reason: string): void {
    const place = this.sink.keep(batch);
    warnOnce(`kept ${place} ${reason}`, `a part of what was reported is kept in ${place} (${reason})`);
  }

  /** The training need not wait for it: the timer holds no process back. */
  async #pause(askedMs: number | null, tries: number): Promise<void> {
    const pauseMs = askedMs === null ? retryDelayMs(tries - 1) : Math.min(askedMs, LONGEST_ASKED_PAUSE_MS);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs).unref();
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#hurry = null;
  }
}

/** Said once for a run, whether it turns out on the way or at the end. */
export function warnUndelivered(place: string, reason: string): void {
  const message = `the server cannot be reached (${reason}); trying on, and what is left at the end is kept in ${place}`;
  warnOnce(`undelivered ${place}`, message);
}

async function complete(batch: Batch): Promise<void> {
  if (Array.isArray(batch)) return;
  await batch.complete?.().catch(() => undefined);
  batch.complete = null;
}
