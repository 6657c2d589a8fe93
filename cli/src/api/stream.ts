import { setTimeout as delay } from 'node:timers/promises';
import type { RouteSpec } from '@svc/contract';
import { ApiError } from './api-error.js';
import type { Client, RequestParts } from './client.js';
import { createSseParser, type SseEvent } from './sse-parser.js';

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;
/** The server sends a heartbeat every 15 s: a connection silent for three of them is dead. */
const SILENCE_LIMIT_MS = 45_000;

export interface StreamOptions extends RequestParts {
  /** Called once per outage, with the reason. */
  readonly onOutage?: (reason: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The events of an SSE endpoint until its `event: end`, or until `signal` aborts. A connection that drops is made
 * again from the last id. Throws the ApiError of a request that the server refuses.
 */
export async function* followStream(
  client: Client,
  route: RouteSpec,
  options: StreamOptions,
): AsyncGenerator<SseEvent> {
  let lastId: string | null = null;
  let retryMs = 0;
  while (!options.signal?.aborted) {
    try {
      for await (const event of readOnce(client, route, options, lastId)) {
        retryMs = 0;
        if (event.event === 'end') return;
        lastId = event.id ?? lastId;
        yield event;
      }
    } catch (error) {
      if (options.signal?.aborted) return;
      if (error instanceof ApiError && error.status < 500) throw error;
      if (retryMs === 0) options.onOutage?.(error instanceof Error ? error.message : String(error));
    }
    retryMs = Math.min(Math.max(retryMs * 2, FIRST_RETRY_MS), LONGEST_RETRY_MS);
    await delay(retryMs, undefined, options.signal && { signal: options.signal }).catch(() => undefined);
  }
}

async function* readOnce(
  client: Client,
  route: RouteSpec,
  options: StreamOptions,
  lastId: string | null,
): AsyncGenerator<SseEvent> {
  const silence = new AbortController();
  const watchdog = setTimeout(() => silence.abort(new Error('no heartbeat')), SILENCE_LIMIT_MS);
  const signals = options.signal ? [options.signal, silence.signal] : [silence.signal];
  try {
    const response = await client.open(route, {
      ...options,
      signal: AbortSignal.any(signals),
      headers: { accept: 'text/event-stream', ...(lastId !== null && { 'last-event-id': lastId }) },
    });
    const parse = createSseParser();
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      watchdog.refresh();
      yield* parse(decoder.decode(chunk as Uint8Array, { stream: true }));
    }
  } finally {
    clearTimeout(watchdog);
  }
}
