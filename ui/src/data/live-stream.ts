import {
  follow,
  type Client,
  type Endpoint,
  type FollowState,
  type RouteInput,
  type SseEvent,
} from '@svc/client';
import type { RouteSpec } from '@svc/contract';

export type { SseEvent };

/** paused: the page is hidden. ended: the server said it is complete. failed: refused for good. */
export type StreamState = FollowState | 'paused' | 'ended' | 'failed';

export interface StreamListener {
  /** All events that arrived together. */
  onEvents(events: readonly SseEvent[]): void;
  onState?(state: StreamState, error?: unknown): void;
}

/** A followed stream that can rest and go on where it was. */
export class LiveStream<R extends RouteSpec> {
  #connection: AbortController | null = null;
  #isOver = false;

  readonly #client: Client;
  readonly #route: Endpoint<R>;
  readonly #input: RouteInput<R>;
  readonly #listener: StreamListener;
  #lastEventId: string | null;

  constructor(
    client: Client,
    route: Endpoint<R>,
    input: RouteInput<R>,
    listener: StreamListener,
    lastEventId: string | null,
  ) {
    this.#client = client;
    this.#route = route;
    this.#input = input;
    this.#listener = listener;
    this.#lastEventId = lastEventId;
  }

  /** Connects, unless it is connected, has ended or was refused. */
  resume(): void {
    if (this.#connection || this.#isOver) return;
    this.#connection = new AbortController();
    void this.#run(this.#connection.signal);
  }

  pause(): void {
    if (!this.#connection) return;
    this.#disconnect();
    this.#listener.onState?.('paused');
  }

  close(): void {
    this.#disconnect();
    this.#isOver = true;
  }

  #disconnect(): void {
    this.#connection?.abort();
    this.#connection = null;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const listener = this.#listener;
    let end: StreamState = 'ended';
    let refusal: unknown;
    try {
      for await (const events of this.#follow(signal)) {
        if (signal.aborted) return;
        this.#lastEventId = events.at(-1)?.id ?? this.#lastEventId;
        listener.onEvents(events);
      }
    } catch (error) {
      end = 'failed';
      refusal = error;
    }
    if (signal.aborted) return;
    this.close();
    listener.onState?.(end, refusal);
  }

  #follow(signal: AbortSignal): AsyncGenerator<readonly SseEvent[]> {
    return follow(this.#client, this.#route, this.#input, {
      signal,
      lastEventId: this.#lastEventId,
      onState: (state, error) => {
        if (!signal.aborted) this.#listener.onState?.(state, error);
      },
    });
  }
}
