import type { Delivery, Notifier } from '@svc/contract';
import { CoalescedWork, yieldIfSliceOver, type PluginContext, type Timer } from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import { SENT_AT_ONCE } from './best-effort-queue.js';
import { sendOnce, toReason } from './send-once.js';
import * as store from './store.js';
import { isWanted } from './wanted.js';

/** Of one target. Further events wait in the table of events. */
const MOST_PENDING = 1_000;
const PAGE_EVENTS = 100;
/** After so many events that the target does not want, its position is stored all the same. */
const UNSTORED_POSITIONS = 1_000;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 5 * 60_000;
const AFTER_OUTAGE_MS = 5_000;
const TOO_OLD = 'the event was too old before the target took it';

type OutboxContext = Pick<PluginContext, 'clock' | 'db' | 'log' | 'signal' | 'transaction'>;

/**
 * Tells one target of events, each of them until the target has taken it or it is too old. What is to be told is read from the order in
 * which the events were published, from a stored position on, so that neither a crash nor a change of state waits for it.
 */
export class Outbox {
  readonly #passes = new CoalescedWork(() => this.#pass());
  #position = 0;
  #storedPosition = 0;
  #timer: Timer | null = null;

  constructor(
    private readonly ctx: OutboxContext,
    private readonly events: Events,
    private readonly notifier: Notifier,
    private readonly giveUpAfterMs: number,
  ) {}

  /** A target that is new is told of what happens from now on. */
  async start(): Promise<void> {
    const { db } = this.ctx;
    const known = await store.loadCursor(db, this.notifier.name);
    this.#position = this.#storedPosition = known ?? (await this.events.lastPosition(db));
    if (known === null) await store.storeCursor(db, this.notifier.name, this.#position);
  }

  /** There is something new. Returns at once. */
  wake(): void {
    void this.#passes.next();
  }

  async settled(): Promise<void> {
    this.#timer?.clear();
    await this.#passes.settled();
  }

  /** Never rejects. */
  async #pass(): Promise<void> {
    const { db, clock, log, signal } = this.ctx;
    const target = this.notifier.name;
    this.#timer?.clear();
    try {
      while (!signal.aborted) {
        await this.#takeNew();
        const due = await store.listDue(db, target, clock.now(), SENT_AT_ONCE);
        if (due.length === 0) return this.#wakeAt(await store.nextDueAt(db, target));
        await Promise.all(due.map((delivery) => this.#deliver(delivery)));
      }
    } catch (err) {
      log.error({ err, target }, 'the outbox cannot be read or written; it is tried again');
      this.#wakeAt(clock.now() + AFTER_OUTAGE_MS);
    }
  }

  #wakeAt(at: number | null): void {
    const { clock, signal } = this.ctx;
    if (at !== null && !signal.aborted)
      this.#timer = clock.setTimeout(() => this.wake(), Math.max(0, at - clock.now()));
  }

  /** Makes deliveries of the events after the position, as many as may be pending. */
  async #takeNew(): Promise<void> {
    const { db, clock, transaction } = this.ctx;
    const target = this.notifier.name;
    for (;;) {
      const room = MOST_PENDING - (await store.countPending(db, target));
      if (room <= 0) return;
      const page = await this.events.after(db, this.#position, Math.min(room, PAGE_EVENTS));
      const last = page.at(-1)?.position;
      if (last === undefined) return;
      const now = clock.now();
      const wanted = page.map(({ event }) => event).filter((event) => isWanted(this.notifier, event));
      if (wanted.length > 0 || last - this.#storedPosition >= UNSTORED_POSITIONS) {
        await transaction(async (tx) => {
          await store.insertDeliveries(tx, target, wanted, now);
          await store.storeCursor(tx, target, last);
        });
        this.#storedPosition = last;
      }
      this.#position = last;
      await yieldIfSliceOver();
    }
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { db, clock, signal } = this.ctx;
    const tries = delivery.tries + 1;
    const event = await this.events.find(db, delivery.event_id);
    if (event === null) return this.#end(delivery, delivery.tries, 'the event was removed');
    const giveUpAt = event.created_at + this.giveUpAfterMs;
    if (clock.now() >= giveUpAt) return this.#end(delivery, delivery.tries, TOO_OLD);
    try {
      await sendOnce(this.ctx, this.notifier, event);
    } catch (error) {
      if (!signal.aborted) await this.#failed(delivery, tries, toReason(error), giveUpAt);
      return;
    }
    const end = { status: 'DELIVERED', next_try_at: null, finished_at: clock.now() } as const;
    await store.storeOutcome(db, delivery.id, { ...end, tries, last_error: delivery.last_error });
  }

  async #failed(delivery: Delivery, tries: number, reason: string, giveUpAt: number): Promise<void> {
    const { db, clock, log } = this.ctx;
    const { id, event_id } = delivery;
    const next = clock.now() + Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS);
    if (next >= giveUpAt) return this.#end(delivery, tries, reason);
    if (tries === 1)
      log.warn(
        { target: this.notifier.name, event_id, reason },
        `push target ${this.notifier.name}: an event was not pushed, and is tried again: ${reason}`,
      );
    const state = { status: 'PENDING', next_try_at: next, finished_at: null } as const;
    await store.storeOutcome(db, id, { ...state, tries, last_error: reason });
  }

  async #end({ id, event_id }: Delivery, tries: number, reason: string): Promise<void> {
    const { db, clock, log } = this.ctx;
    const { name } = this.notifier;
    log.warn(
      { target: name, event_id, tries, reason },
      `push target ${name}: an event is not pushed any more: ${reason}`,
    );
    const end = { status: 'FAILED', next_try_at: null, finished_at: clock.now() } as const;
    await store.storeOutcome(db, id, { ...end, tries, last_error: reason });
  }
}
