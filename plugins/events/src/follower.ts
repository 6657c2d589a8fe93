import type { EventRecord } from '@svc/contract';
import type { Db, SseMessage, SseStream } from '@svc/kernel';
import { createMatcher, type EventFilter } from './filter.js';
import { eventsAfter, type PositionedEvent } from './store.js';

const REPLAY_PAGE = 500;
/** When more events are pending, they are dropped and read from the database again, so that a slow client costs little memory. */
const MAX_PENDING = 500;
/** What is handed to the socket at once. */
const CHUNK_CHARS = 16 * 1024;

/** The JSON of an event is made once for all clients. */
const texts = new WeakMap<EventRecord, string>();

/**
 * One client: sends the events in the database after its position, then pushed ones, with back-pressure. There is no gap: events that are
 * pushed while the database is read are kept. There is no repeat: events up to the position are skipped.
 */
export class EventFollower {
  #pending: PositionedEvent[] = [];
  #isBehind = true;
  #wake: () => void = () => undefined;
  readonly #isWanted: (event: EventRecord) => boolean;

  constructor(
    /** `db` is read at each use, as the database opens after setup. */
    private readonly ctx: { readonly db: Db },
    private readonly stream: SseStream,
    private readonly filter: EventFilter,
    private position: number,
  ) {
    this.#isWanted = createMatcher(filter);
  }

  push(news: readonly PositionedEvent[]): void {
    this.#pending.push(...news);
    if (this.#pending.length > MAX_PENDING) {
      this.#pending = [];
      this.#isBehind = true;
    }
    this.#wake();
  }

  /** Runs until the client disconnects. */
  async run(): Promise<void> {
    const { signal } = this.stream;
    signal.addEventListener('abort', () => this.#wake());
    while (!signal.aborted) {
      if (this.#isBehind) await this.#replay();
      else if (this.#pending.length > 0) await this.#send(this.#pending.splice(0));
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async #replay(): Promise<void> {
    this.#isBehind = false;
    for (;;) {
      const page = await eventsAfter(this.ctx.db, this.position, this.filter, REPLAY_PAGE);
      await this.#send(page);
      if (page.length < REPLAY_PAGE || this.stream.signal.aborted) return;
    }
  }

  /** In chunks, each of which waits until the one before it was taken. */
  async #send(news: readonly PositionedEvent[]): Promise<void> {
    let chunk: SseMessage[] = [];
    let chars = 0;
    for (const { position, event } of news) {
      if (position <= this.position) continue;
      this.position = position;
      if (!this.#isWanted(event)) continue;
      const json = toJson(event);
      if (chunk.length > 0 && chars + json.length > CHUNK_CHARS) {
        await this.stream.write(...chunk);
        chunk = [];
        chars = 0;
      }
      if (this.stream.signal.aborted) return;
      chunk.push({ id: event.id, json });
      chars += json.length;
    }
    if (chunk.length > 0) await this.stream.write(...chunk);
  }
}

function toJson(event: EventRecord): string {
  const text = texts.get(event) ?? JSON.stringify(event);
  texts.set(event, text);
  return text;
}
