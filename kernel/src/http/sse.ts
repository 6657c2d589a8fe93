/// <reference path="./koa-sse-stream.d.ts" />
import type Koa from 'koa';
import SseTransform, { type RawMessage } from 'koa-sse-stream/lib/sse.js';
import { Transform } from 'node:stream';
import type { HttpParts } from './parts.js';
import type { SseReply, SseStream } from './route.js';

const HEARTBEAT_MS = 15_000;
/** A client with more than this on its way is cut: it resumes by `Last-Event-ID`. */
const MAX_IN_FLIGHT_BYTES = 4 * 1024 * 1024;

/** Answers by a stream of events, which is closed when `open` throws. */
export function answerSse(ctx: Koa.Context, { open }: SseReply, { clock, closing, log }: HttpParts): void {
  const transform = new SseTransform(ctx);
  const gone = new AbortController();
  const unsettled = new Set<() => void>();
  let inFlightBytes = 0;

  async function send(message: RawMessage): Promise<void> {
    if (gone.signal.aborted || transform.ended) return;
    const sizeBytes = Buffer.byteLength(message.data);
    inFlightBytes += sizeBytes;
    if (inFlightBytes > MAX_IN_FLIGHT_BYTES) return cut();
    await new Promise<void>((resolve) => {
      unsettled.add(resolve);
      transform.write(message, () => {
        inFlightBytes -= sizeBytes;
        unsettled.delete(resolve);
        resolve();
      });
    });
  }

  function cut(): void {
    gone.abort();
    ctx.res.destroy();
  }

  /** Ends the answer without an `end` event. The class's own end() does nothing. */
  function hangUp(): void {
    if (!transform.ended) (Transform.prototype.end as () => void).call(transform);
    transform.ended = true;
  }

  const stream: SseStream = {
    lastEventId: ctx.get('Last-Event-ID') || null,
    signal: gone.signal,
    write: ({ id, event, data }) =>
      send({
        ...(id !== undefined && { id: String(id) }),
        ...(event && { event }),
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
  void (async () => open(stream))().catch((err: unknown) => {
    log.error({ err, path: ctx.path, request_id: ctx.state['requestId'] as string }, 'a stream failed');
    hangUp();
  });
}
