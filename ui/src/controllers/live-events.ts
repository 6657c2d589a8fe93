import { ContextConsumer } from '@lit/context';
import type { LitElement, ReactiveController } from 'lit';
import { feedContext } from '../data/contexts.js';
import type { EventRecord } from '../data/event-list.js';

/** Hands its host the events of the shared stream while the host is on the page. */
export class LiveEvents implements ReactiveController {
  readonly #feed: ContextConsumer<typeof feedContext, LitElement>;
  #unsubscribe: (() => void) | null = null;

  readonly #onEvents: (events: EventRecord[]) => void;

  constructor(host: LitElement, onEvents: (events: EventRecord[]) => void) {
    this.#onEvents = onEvents;
    this.#feed = new ContextConsumer(host, { context: feedContext });
    host.addController(this);
  }

  hostConnected(): void {
    this.#unsubscribe = this.#feed.value?.subscribe(this.#onEvents) ?? null;
  }

  hostDisconnected(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
  }
}
