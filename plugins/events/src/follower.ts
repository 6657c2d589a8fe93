import type { EventRecord } from '@svc/contract';
import { yieldIfSliceOver, type Db, type SseMessage, type SseStream } from '@svc/kernel';
import { createMatcher, type EventFilter } from './filter.js';
import { historyPage, lastPosition, type PositionedEvent } from './store.js';

/** How many events the first page of a replay has, and the largest. */
const FIRST_PAGE = 64;
const LARGEST_PAGE = 500;
/** When more is pending, it is dropped and read from the database again, so that a client that does not read costs little memory. */
const MAX_PENDING = 500;
const MAX_PENDING_CHARS = 1024 * 1024;
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
  #pendingChars = 0;
  /** The position up to which everything was pushed. */
  #pushedUpTo = 0;
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
    const wanted = news.filter(({ event }) => this.#isWanted(event));
    this.#pushedUpTo = news.at(-1)?.position ?? this.#pushedUpTo;
    this.#pending.push(...wanted);
    for (const { event } of wanted) this.#pendingChars += toJson(event).length;
    if (this.#pending.length > MAX_PENDING || this.#pendingChars > MAX_PENDING_CHARS) {
      this.#takePending();
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
      else if (this.#pending.length > 0) await this.#send(this.#takePending());
      else await this.#nextPush();
    }
  }

  #takePending(): PositionedEvent[] {
    this.#pendingChars = 0;
    return this.#pending.splice(0);
  }

  async #nextPush(): Promise<void> {
    this.position = Math.max(this.position, this.#pushedUpTo);
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** Page by page: while the client does not read, one page is in memory. What is published meanwhile is pushed. */
  async #replay(): Promise<void> {
    this.#isBehind = false;
    const upTo = await lastPosition(this.ctx.db);
    let limit = FIRST_PAGE;
    while (this.position < upTo && !this.stream.signal.aborted) {
      const range = { after: this.position, upTo };
      const page = await historyPage(this.ctx.db, range, this.filter, limit);
      await this.#send(page.events);
      this.position = page.upTo;
      limit = Math.min(LARGEST_PAGE, 2 * Math.max(4, page.events.length));
      await yieldIfSliceOver();
    }
  }

  /** In chunks, each of which waits until the one before it was taken. */
  async #send(news: readonly PositionedEvent[]): Promise<void> {
    let chunk: SseMessage[] = [];
    let chars = 0;
    for (const { position, event } of news) {
      if (position <= this.position) continue;
      this.position = position;
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
