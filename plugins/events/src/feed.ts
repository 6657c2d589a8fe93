import type { EventRecord } from '@svc/contract';
import { CoalescedWork, sse, type PluginContext, type SseReply, type SseStream } from '@svc/kernel';
import type { EventFilter } from './filter.js';
import { EventFollower } from './follower.js';
import { eventAppended } from './hooks.js';
import { lastPosition, positionNewEvents, positionOf, type PositionedEvent } from './store.js';

type Surroundings = Pick<PluginContext, 'db' | 'log' | 'fire'>;

type Listener = (positioned: PositionedEvent) => void;

/**
 * Brings committed events to the streams and to `eventAppended`, in one order. That order is kept in the database, so a
 * client can resume behind any event, also of a server that ran before.
 */
export class EventFeed {
  readonly #listeners = new Set<Listener>();
  readonly #observing = new Set<Promise<unknown>>();
  readonly #publishing = new CoalescedWork(() => this.#publishNew());
  #published = 0;

  constructor(private readonly around: Surroundings) {}

  /** Takes up where the server before has stopped. */
  async resume(): Promise<void> {
    this.#published = await lastPosition(this.around.db);
  }

  /** Publishes whatever has been committed before the call. Never rejects. */
  flush(): Promise<void> {
    return this.#publishing.next();
  }

  /** Resolves when no tap of `eventAppended` is at work any more. */
  async settled(): Promise<void> {
    await this.#publishing.settled();
    await Promise.all(this.#observing);
  }

  /** Live events behind `lastEventId`; null: from now on. */
  stream(filter: EventFilter, lastEventId: string | null): SseReply {
    return sse(async (stream) => {
      const now = this.#published;
      await this.#follow(
        stream,
        filter,
        lastEventId === null ? now : await positionOf(this.around.db, lastEventId),
      );
    });
  }

  async #publishNew(): Promise<void> {
    try {
      for (const positioned of await positionNewEvents(this.around.db)) {
        this.#published = positioned.position;
        for (const listener of this.#listeners) listener(positioned);
        this.#observe(positioned.event);
      }
    } catch (err) {
      this.around.log.error({ err }, 'cannot publish new events; the next one publishes them too');
    }
  }

  /** Not waited for: who publishes does not wait for who observes. */
  #observe(event: EventRecord): void {
    const observed = this.around.fire(eventAppended, event).finally(() => this.#observing.delete(observed));
    this.#observing.add(observed);
  }

  async #follow(stream: SseStream, filter: EventFilter, start: number): Promise<void> {
    const follower = new EventFollower(this.around, stream, filter, start);
    const listener: Listener = (told) => follower.tell(told);
    this.#listeners.add(listener);
    await follower.run().finally(() => this.#listeners.delete(listener));
  }
}
