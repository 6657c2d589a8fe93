import type { Api } from './api.js';
import type { EventRecord } from './event-list.js';
import { streamEvents } from './events.js';
import type { StreamState } from './live-stream.js';

type EventsListener = (events: EventRecord[]) => void;
type StateListener = (state: StreamState) => void;

/** The one stream of events that all pages share. */
export class LiveFeed {
  readonly #listeners = new Set<EventsListener>();
  #close: (() => void) | null = null;

  readonly #api: Api;
  readonly #onState: StateListener;

  constructor(api: Api, onState: StateListener) {
    this.#api = api;
    this.#onState = onState;
  }

  start(): void {
    this.#close ??= streamEvents(this.#api, {
      onEvents: (messages) =>
        this.#deliver(messages.map((message) => JSON.parse(message.data) as EventRecord)),
      onState: this.#onState,
    });
  }

  stop(): void {
    this.#close?.();
    this.#close = null;
  }

  /** Returns the end of the subscription. */
  subscribe(listener: EventsListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #deliver(events: EventRecord[]): void {
    for (const listener of [...this.#listeners]) listener(events);
  }
}
