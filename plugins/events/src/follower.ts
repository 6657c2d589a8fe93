import type { Db, SseStream } from '@svc/kernel';
import { matches, type EventFilter } from './filter.js';
import { eventsAfter, type PositionedEvent } from './store.js';

const REPLAY_PAGE = 500;
/** When more events are pending, they are dropped and read from the database again, so that a slow client costs little memory. */
const MAX_PENDING = 500;

/**
 * One client: sends the events in the database after its position, then pushed ones, with back-pressure. There is no gap: events that are
 * pushed while the database is read are kept. There is no repeat: events up to the position are skipped.
 */
export class EventFollower {
  #pending: PositionedEvent[] = [];
  #isBehind = true;
  #wake: () => void = () => undefined;

  constructor(
    /** `db` is read at each use, as the database opens after setup. */
    private readonly ctx: { readonly db: Db },
    private readonly stream: SseStream,
    private readonly filter: EventFilter,
    private position: number,
  ) {}

  push(positioned: PositionedEvent): void {
    this.#pending.push(positioned);
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
      else if (this.#pending.length > 0) await this.#send(this.#pending.shift()!);
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async #replay(): Promise<void> {
    this.#isBehind = false;
    for (;;) {
      const page = await eventsAfter(this.ctx.db, this.position, this.filter, REPLAY_PAGE);
      for (const positioned of page) await this.#send(positioned);
      if (page.length < REPLAY_PAGE || this.stream.signal.aborted) return;
    }
  }

  async #send({ position, event }: PositionedEvent): Promise<void> {
    if (position <= this.position) return;
    this.position = position;
    if (matches(event, this.filter)) await this.stream.write({ id: event.id, data: event });
  }
}
