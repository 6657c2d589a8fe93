/// <reference path="./koa-sse-stream.d.ts" />
import type Koa from 'koa';
import SseTransform from 'koa-sse-stream/lib/sse.js';
import { Transform } from 'node:stream';
import type { Clock } from '../clock.js';
import type { SseMessage, SseReply, SseStream } from './route.js';

const HEARTBEAT_MS = 15_000;
/** A client with more than this on its way is cut: it resumes by `Last-Event-ID`. */
const MAX_IN_FLIGHT_BYTES = 4 * 1024 * 1024;

export interface SseSurroundings {
  readonly clock: Clock;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Told of what `open` throws; the stream is closed then. */
  onError(error: unknown): void;
}

/** Answers the request by a stream of events; see SseStream for what `open` may do with it. */
export function answerSse(
  ctx: Koa.Context,
  { open }: SseReply,
  { clock, closing, onError }: SseSurroundings,
): void {
  const transform = new SseTransform(ctx);
  const gone = new AbortController();
  const unsettled = new Set<() => void>();
  let inFlightBytes = 0;

  function send(message: { id?: string; event?: string; data: string }): Promise<void> {
    if (gone.signal.aborted || transform.ended) return Promise.resolve();
    const sizeBytes = Buffer.byteLength(message.data);
    inFlightBytes += sizeBytes;
    if (inFlightBytes > MAX_IN_FLIGHT_BYTES) return cut();
    return new Promise((resolve) => {
      unsettled.add(resolve);
      transform.write(message, () => {
        inFlightBytes -= sizeBytes;
        unsettled.delete(resolve);
        resolve();
      });
    });
  }

  function cut(): Promise<void> {
    gone.abort();
    ctx.res.destroy();
    return Promise.resolve();
  }

  /** Ends the answer without an `end` event. The class's own end() does nothing. */
  function hangUp(): void {
    if (transform.ended) return;
    transform.ended = true;
    (Transform.prototype.end as () => void).call(transform);
  }

  const stream: SseStream = {
    lastEventId: ctx.get('Last-Event-ID') || null,
    signal: gone.signal,
    write: ({ id, event, data }: SseMessage) =>
      send({
        ...(id !== undefined && { id: String(id) }),
        ...(event !== undefined && { event }),
        data: JSON.stringify(data),
      }),
    end: () => void transform.sendEnd({ event: 'end', data: '{}' }),
  };

  const heartbeat = clock.setInterval(() => void send({ data: ': heartbeat' }), HEARTBEAT_MS);
  closing.addEventListener('abort', hangUp);
  ctx.res.once('close', () => {
    heartbeat.clear();
    closing.removeEventListener('abort', hangUp);
    gone.abort();
    transform.destroy();
    for (const resolve of unsettled) resolve();
  });
  ctx.status = 200;
  ctx.body = transform;
  if (closing.aborted) return hangUp();
  void (async () => open(stream))().catch((error: unknown) => {
    onError(error);
    hangUp();
  });
}
