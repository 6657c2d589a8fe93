import type { RouteSpec } from '@svc/contract';
import { ApiError } from './api-error.js';
import type { CallInput, Client, RouteInput } from './client.js';
import type { Endpoint } from './endpoint.js';
import { pause, retryDelayMs } from './retry.js';
import { SseParser, type SseEvent } from './sse-parser.js';

/** connecting: the request was sent. live: the stream is open. waiting: the connection was lost, and the back-off before a reconnect runs. */
export type FollowState = 'connecting' | 'live' | 'waiting';

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** Resumes after this event. */
  readonly lastEventId?: string | null;
  /** `error`: why the connection was lost; undefined when the server closed it. */
  readonly onState?: (state: FollowState, error?: unknown) => void;
  /** Silence after which the connection counts as dead. */
  readonly silenceMs?: number;
}

/** The server sends a heartbeat every 15 s: three of them. */
const SILENCE_MS = 45_000;
/** A connection that lasted so long was a good one: after it, the first attempt comes soon again. */
const STEADY_MS = 5_000;

/**
 * The events of an SSE endpoint until the server's `event: end`, or until `signal` aborts; events that arrive together are yielded together.
 * It reconnects after a lost connection and resumes after the last event. Throws the ApiError of a request that a retry cannot fix.
 */
export async function* follow<R extends RouteSpec>(
  client: Client,
  route: R | Endpoint<R>,
  input: RouteInput<R>,
  options: FollowOptions = {},
): AsyncGenerator<readonly SseEvent[], void> {
  const { signal, onState } = options;
  let lastEventId = options.lastEventId ?? null;
  let failures = 0;
  while (!signal?.aborted) {
    const parser = new SseParser(lastEventId);
    let lost: unknown;
    let heardAtMs: number | null = null;
    onState?.('connecting');
    try {
      for await (const events of readOnce(client, route, input, options, parser)) {
        heardAtMs ??= performance.now();
        lastEventId = events.at(-1)?.id ?? lastEventId;
        const end = events.findIndex(({ event }) => event === 'end');
        const news = end === -1 ? events : events.slice(0, end);
        if (news.length > 0) yield news;
        if (end !== -1) return;
      }
    } catch (error) {
      if (error instanceof ApiError && error.isFinal) throw error;
      lost = error;
    }
    if (signal?.aborted) return;
    if (heardAtMs !== null && performance.now() - heardAtMs >= STEADY_MS) failures = 0;
    onState?.('waiting', lost);
    await pause(parser.retryMs ?? retryDelayMs(failures++), signal);
  }
}

/** The events of one connection, yielded after each chunk; empty for a heartbeat. */
async function* readOnce<R extends RouteSpec>(
  client: Client,
  route: R | Endpoint<R>,
  input: RouteInput<R>,
  { signal, onState, silenceMs = SILENCE_MS }: FollowOptions,
  parser: SseParser,
): AsyncGenerator<SseEvent[]> {
  const connection = new AbortController();
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  const hear = (): void => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => connection.abort(new Error('no heartbeat')), silenceMs);
  };
  try {
    hear();
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (parser.lastId !== null) headers['last-event-id'] = parser.lastId;
    const either = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
    const request: CallInput<R> = Object.assign({ headers, signal: either }, input);
    const response = await client.open(route, request);
    onState?.('live');
    const decoder = new TextDecoder();
    const reader = response.body!.getReader();
    for (;;) {
      hear();
      const { done, value } = await reader.read();
      if (done || signal?.aborted) return;
      yield parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(watchdog);
    connection.abort();
  }
}
