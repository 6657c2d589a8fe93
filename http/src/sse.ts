/// <reference path="./koa-sse-stream.d.ts" />
import type Koa from 'koa';
import SseTransform, { type RawMessage } from 'koa-sse-stream/lib/sse.js';
import { Transform } from 'node:stream';
import type { Caller } from './caller.js';
import type { ServerParts } from './parts.js';
import type { SseReply, SseStream } from './route.js';

const HEARTBEAT_MS = 15_000;
/** After the end of a stream whose token is no longer valid: time until a client that does not close is disconnected. */
const CUT_AFTER_MS = 1_000;

/**
 * Answers with a stream of events, which is closed when `open` throws. A client with too much unsent data is disconnected and resumes by
 * `Last-Event-ID`. A single message is always sent, however large it is, when nothing else is unsent.
 */
export function answerSse(ctx: Koa.Context, { open }: SseReply, parts: ServerParts, caller: Caller): void {
  const { clock, closing, log, streams, tokens, limits } = parts;
  const leave = streams.enter(caller.token_id);
  const transform = new SseTransform(ctx);
  // SseTransform has switched the time-out off.
  ctx.req.socket.setTimeout(limits.stalledAnswerMs);
  const gone = new AbortController();
  const unsettled = new Set<() => void>();
  let inFlightBytes = 0;

  async function send(message: RawMessage): Promise<void> {
    if (gone.signal.aborted || transform.ended) return;
    const sizeBytes = Buffer.byteLength(message.data);
    if (inFlightBytes > 0 && inFlightBytes + sizeBytes > streams.bytesPerStream) return disconnect();
    inFlightBytes += sizeBytes;
    await new Promise<void>((resolve) => {
      unsettled.add(resolve);
      transform.write(message, () => {
        inFlightBytes -= sizeBytes;
        unsettled.delete(resolve);
        resolve();
      });
    });
  }

  function disconnect(): void {
    gone.abort();
    ctx.res.destroy();
  }

  /** Ends the answer without an `end` event. `end()` of SseTransform does nothing, so that of its parent class is called. */
  function endAnswer(): void {
    if (!transform.ended) (Transform.prototype.end as () => void).call(transform);
    transform.ended = true;
  }

  function endForToken(): void {
    endAnswer();
    setTimeout(disconnect, CUT_AFTER_MS).unref();
  }

  function sendHeartbeat(): void {
    if (inFlightBytes === 0) void send({ data: ': heartbeat' });
  }

  const stream: SseStream = {
    lastEventId: ctx.get('Last-Event-ID') || null,
    signal: gone.signal,
    write: ({ id, event, data, json = JSON.stringify(data) }) =>
      send({
        ...(id !== undefined && { id: String(id) }),
        ...(event && { event }),
        data: json,
      }),
    end: () => void transform.sendEnd({ event: 'end', data: '{}' }),
  };
  const heartbeat = clock.setInterval(sendHeartbeat, HEARTBEAT_MS);
  const unwatch = tokens.watch(ctx.get('Authorization'), endForToken);
  closing.addEventListener('abort', endAnswer);
  ctx.res.once('close', () => {
    heartbeat.clear();
    unwatch();
    leave();
    closing.removeEventListener('abort', endAnswer);
    gone.abort();
    transform.destroy();
    for (const resolve of unsettled) resolve();
  });
  ctx.status = 200;
  ctx.body = transform;
  if (closing.aborted) return endAnswer();
  void (async () => open(stream))().catch((err: unknown) => {
    log.error({ err, path: ctx.path, request_id: ctx.state['requestId'] as string }, 'a stream failed');
    endAnswer();
  });
}
