import type { Db, SseStream } from '@svc/kernel';
import { matches, type EventFilter } from './filter.js';
import { eventsAfter, type PositionedEvent } from './store.js';

const REPLAY_PAGE = 500;
/** Further ones are read from the database again, so that a slow client costs little memory. */
const MAX_TOLD = 500;

/**
 * One client: what is in the database behind its position, then what is told, at the pace at which it takes them. No gap: what is
 * told while the database is read waits. No repeat: what the database showed before is not behind the position any more.
 */
export class EventFollower {
  #told: PositionedEvent[] = [];
  #isBehind = true;
  #wake: () => void = () => undefined;

  constructor(
    /** The database is looked up at each use. */
    private readonly around: { readonly db: Db },
    private readonly stream: SseStream,
    private readonly filter: EventFilter,
    private position: number,
  ) {}

  tell(positioned: PositionedEvent): void {
    this.#told.push(positioned);
    if (this.#told.length > MAX_TOLD) {
      this.#told = [];
      this.#isBehind = true;
    }
    this.#wake();
  }

  /** Until the client is gone. */
  async run(): Promise<void> {
    const { signal } = this.stream;
    signal.addEventListener('abort', () => this.#wake());
    while (!signal.aborted) {
      if (this.#isBehind) await this.#replay();
      else if (this.#told.length > 0) await this.#send(this.#told.shift()!);
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async #replay(): Promise<void> {
    this.#isBehind = false;
    for (;;) {
      const page = await eventsAfter(this.around.db, this.position, this.filter, REPLAY_PAGE);
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
