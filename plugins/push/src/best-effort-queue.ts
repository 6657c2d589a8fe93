import type { EventRecord, Notifier } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import { sendOnce, toReason } from './send-once.js';

/** An event may take 100 KB, and there is a queue for each target. */
const MOST_WAITING = 100;
export const SENT_AT_ONCE = 4;

type QueueContext = Pick<PluginContext, 'clock' | 'log' | 'signal'>;

/**
 * Tells one target of events, each of them once at most. Nobody waits for it, and it takes a bounded amount of memory: while too many
 * events wait, further ones are dropped.
 */
export class BestEffortQueue {
  readonly #waiting: EventRecord[] = [];
  readonly #sending = new Set<Promise<void>>();
  #dropped = 0;

  constructor(
    private readonly ctx: QueueContext,
    private readonly notifier: Notifier,
  ) {}

  add(event: EventRecord): void {
    if (this.#isFull()) this.#drop();
    else this.#waiting.push(event);
    this.#sendNext();
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  /** Once it was full, it stays so until half of it is empty: the log has a line when it begins, and one when it is over. */
  #isFull(): boolean {
    const isFull = this.#waiting.length >= (this.#dropped > 0 ? MOST_WAITING / 2 : MOST_WAITING);
    if (!isFull && this.#dropped > 0) {
      this.#warn({ dropped: this.#dropped }, 'it takes events again; some were not pushed');
      this.#dropped = 0;
    }
    return isFull;
  }

  #drop(): void {
    if (this.#dropped === 0)
      this.#warn({ waiting: this.#waiting.length }, 'it is too slow: events are not pushed to it');
    this.#dropped += 1;
  }

  #sendNext(): void {
    while (this.#sending.size < SENT_AT_ONCE && !this.ctx.signal.aborted) {
      const event = this.#waiting.shift();
      if (event === undefined) return;
      const sending: Promise<void> = this.#send(event).finally(() => {
        this.#sending.delete(sending);
        this.#sendNext();
      });
      this.#sending.add(sending);
    }
  }

  async #send(event: EventRecord): Promise<void> {
    try {
      await sendOnce(this.ctx, this.notifier, event);
    } catch (error) {
      const reason = toReason(error);
      if (!this.ctx.signal.aborted)
        this.#warn({ event_id: event.id, reason }, `an event was not pushed: ${reason}`);
    }
  }

  #warn(details: Record<string, unknown>, message: string): void {
    this.ctx.log.warn(
      { target: this.notifier.name, ...details },
      `push target ${this.notifier.name}: ${message}`,
    );
  }
}
