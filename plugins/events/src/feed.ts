import type { EventRecord } from '@svc/contract';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sse, type Db, type Logger, type SseReply, type SseStream } from '@svc/kernel';
import { matches, type EventFilter } from './filter.js';
import { eventsAfter, lastPosition, positionNewEvents, positionOf, type PositionedEvent } from './store.js';

const REPLAY_PAGE = 500;
/** In between the sockets take what they were given: else a burst would look like clients that do not read. */
const TOLD_AT_ONCE = 8;

interface Surroundings {
  /** Looked up at each use: the database opens after setup. */
  readonly db: Db;
  readonly log: Logger;
  readonly fire: { eventAppended(event: EventRecord): Promise<unknown> };
}

type Listener = (positioned: PositionedEvent) => void;

/**
 * Brings committed events to the streams and to `eventAppended`, in one order. That order is kept in the database, so a
 * client can resume behind any event, also of a server that ran before.
 */
export class EventFeed {
  readonly #listeners = new Set<Listener>();
  readonly #observing = new Set<Promise<unknown>>();
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #published = 0;

  constructor(private readonly around: Surroundings) {}

  /** Takes up where the server before has stopped. */
  async resume(): Promise<void> {
    this.#published = await lastPosition(this.around.db);
  }

  /** Publishes whatever has been committed before the call. Never rejects. */
  flush(): Promise<void> {
    this.#next ??= this.#running = this.#running.then(() => {
      this.#next = null;
      return this.#publishNew();
    });
    return this.#next;
  }

  /** Resolves when no tap of `eventAppended` is at work any more. */
  async settled(): Promise<void> {
    await this.#running;
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
      let told = 0;
      for (const positioned of await positionNewEvents(this.around.db)) {
        this.#published = positioned.position;
        for (const listener of this.#listeners) listener(positioned);
        this.#observe(positioned.event);
        if (++told % TOLD_AT_ONCE === 0) await nextTurn();
      }
    } catch (err) {
      this.around.log.error({ err }, 'cannot publish new events; the next one publishes them too');
    }
  }

  /** Not waited for: who publishes does not wait for who observes. */
  #observe(event: EventRecord): void {
    const observed = this.around.fire.eventAppended(event).finally(() => this.#observing.delete(observed));
    this.#observing.add(observed);
  }

  /**
   * Reads from the database until nothing has been published while it read, then goes live. No gap: between the last
   * read and `isLive` nothing is awaited. No repeat: what the database showed before it was told of is behind `position`.
   */
  async #follow(stream: SseStream, filter: EventFilter, start: number): Promise<void> {
    let position = start;
    let isLive = false;
    let hasMissed = true;
    const listener: Listener = (told) => {
      if (!isLive) hasMissed = true;
      else if (told.position > position && matches(told.event, filter)) void write(stream, told.event);
    };
    this.#listeners.add(listener);
    stream.signal.addEventListener('abort', () => this.#listeners.delete(listener));
    if (stream.signal.aborted) return void this.#listeners.delete(listener);
    while (hasMissed && !stream.signal.aborted) {
      hasMissed = false;
      position = await this.#replay(stream, filter, position);
    }
    isLive = true;
  }

  /** Answers the position up to which the stream is complete. */
  async #replay(stream: SseStream, filter: EventFilter, start: number): Promise<number> {
    let position = start;
    for (;;) {
      const page = await eventsAfter(this.around.db, position, filter, REPLAY_PAGE);
      for (const { event } of page) await write(stream, event);
      position = page.at(-1)?.position ?? position;
      if (page.length < REPLAY_PAGE || stream.signal.aborted) return position;
    }
  }
}

function write(stream: SseStream, event: EventRecord): Promise<void> {
  return stream.write({ id: event.id, data: event });
}
