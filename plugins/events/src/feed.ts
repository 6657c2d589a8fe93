import type { EventRecord } from '@svc/contract';
import { CoalescedWork, sse, type PluginContext, type SseReply, type SseStream } from '@svc/kernel';
import type { EventFilter } from './filter.js';
import { EventFollower } from './follower.js';
import { eventAppended } from './hooks.js';
import { idUpTo, lastPosition, positionNewEvents, positionOf, type PositionedEvent } from './store.js';

type FeedContext = Pick<PluginContext, 'db' | 'log' | 'fire'>;

/** In real time, also in tests: when much happens, a client gets one write for all that happened meanwhile. */
const PAUSE_MS = 100;

type Listener = (news: readonly PositionedEvent[]) => void;

/**
 * Publishes committed events to the streams and to `eventAppended`, in one order. That order is stored in the database, so a client can
 * resume after any event, also after a restart of the server.
 */
export class EventFeed {
  readonly #listeners = new Set<Listener>();
  readonly #observing = new Set<Promise<unknown>>();
  readonly #publishing = new CoalescedWork(() => this.#publishNew());
  #published = 0;
  /** Published, and not yet told to the streams. */
  #news: PositionedEvent[] = [];
  #pause: NodeJS.Timeout | null = null;

  constructor(private readonly ctx: FeedContext) {}

  /** Continues after the last event that an earlier run of the server has published. */
  async resume(): Promise<void> {
    this.#published = await lastPosition(this.ctx.db);
  }

  /** Publishes all events that were committed before the call. Never rejects. */
  flush(): Promise<void> {
    return this.#publishing.next();
  }

  /** Resolves when no tap of `eventAppended` is running. */
  async settled(): Promise<void> {
    await this.#publishing.settled();
    if (this.#pause) clearTimeout(this.#pause);
    await Promise.all(this.#observing);
  }

  /** The events after `lastEventId`; null: from now on, which is after the event that the header `Last-Event-ID` of the answer names. */
  async stream(filter: EventFilter, lastEventId: string | null): Promise<SseReply> {
    const { db } = this.ctx;
    const now = this.#published;
    const start = lastEventId === null ? now : await positionOf(db, lastEventId);
    const startId = lastEventId ?? (await idUpTo(db, now));
    return sse(
      (stream) => this.#follow(stream, filter, start),
      startId === null ? {} : { 'Last-Event-ID': startId },
    );
  }

  async #publishNew(): Promise<void> {
    try {
      for (const positioned of await positionNewEvents(this.ctx.db)) {
        this.#published = positioned.position;
        this.#news.push(positioned);
        this.#observe(positioned.event);
      }
      if (!this.#pause) this.#tell();
    } catch (err) {
      this.ctx.log.error({ err }, 'cannot publish new events; the next one publishes them too');
    }
  }

  /** At once when nothing was told a moment ago. */
  #tell(): void {
    const news = this.#news.splice(0);
    this.#pause = null;
    if (news.length === 0) return;
    for (const listener of this.#listeners) listener(news);
    this.#pause = setTimeout(() => this.#tell(), PAUSE_MS).unref();
  }

  /** Fires the hook without waiting for the taps. */
  #observe(event: EventRecord): void {
    const observed = this.ctx.fire(eventAppended, event).finally(() => this.#observing.delete(observed));
    this.#observing.add(observed);
  }

  async #follow(stream: SseStream, filter: EventFilter, start: number): Promise<void> {
    const follower = new EventFollower(this.ctx, stream, filter, start);
    const listener: Listener = (news) => follower.push(news);
    this.#listeners.add(listener);
    await follower.run().finally(() => this.#listeners.delete(listener));
  }
}
