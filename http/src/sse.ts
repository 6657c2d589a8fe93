/// <reference path="./koa-sse-stream.d.ts" />
import type Koa from 'koa';
import SseTransform from 'koa-sse-stream/lib/sse.js';
import { Transform, type TransformCallback } from 'node:stream';
import type { Caller } from './caller.js';
import type { ServerParts } from './parts.js';
import type { SseMessage, SseReply, SseStream } from './route.js';

const HEARTBEAT_MS = 15_000;
/** After the end of a stream whose token is no longer valid: time until a client that does not close is disconnected. */
const CUT_AFTER_MS = 1_000;

/** Text as it is to be sent, of any number of messages. */
class Piece {
  constructor(readonly text: string) {}
}

/** The class writes one message at a time. */
class EventStream extends SseTransform {
  override _transform(chunk: unknown, encoding: BufferEncoding, done: TransformCallback): void {
    if (chunk instanceof Piece) done(null, chunk.text);
    else super._transform(chunk, encoding, done);
  }
}

function toText({ id, event, data, json = JSON.stringify(data) }: SseMessage): string {
  return `${event ? `event: ${event}\n` : ''}${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`;
}

/**
 * Answers with a stream of events, which is closed when `open` throws. A client with too much unsent data is disconnected and resumes by
 * `Last-Event-ID`. A single message is always sent, however large it is, when nothing else is unsent.
 */
export function answerSse(
  ctx: Koa.Context,
  { open, headers = {} }: SseReply,
  parts: ServerParts,
  caller: Caller,
): void {
  const { clock, closing, log, streams, tokens, limits } = parts;
  const leave = streams.enter(caller.token_id);
  const transform = new EventStream(ctx);
  // SseTransform has switched the time-out off.
  ctx.req.socket.setTimeout(limits.stalledAnswerMs);
  const gone = new AbortController();
  const unsettled = new Set<() => void>();
  let inFlightBytes = 0;

  async function send(text: string): Promise<void> {
    if (gone.signal.aborted || transform.ended) return;
    const sizeBytes = Buffer.byteLength(text);
    if (inFlightBytes > 0 && inFlightBytes + sizeBytes > streams.bytesPerStream) return disconnect();
    inFlightBytes += sizeBytes;
    await new Promise<void>((resolve) => {
      unsettled.add(resolve);
      transform.write(new Piece(text), () => {
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
    if (inFlightBytes === 0) void send(': heartbeat\n\n');
  }

  const stream: SseStream = {
    lastEventId: ctx.get('Last-Event-ID') || null,
    signal: gone.signal,
    write: (...messages) => send(messages.map(toText).join('')),
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
  ctx.set(headers);
  ctx.body = transform;
  if (closing.aborted) return endAnswer();
  void (async () => open(stream))().catch((err: unknown) => {
    log.error({ err, path: ctx.path, request_id: ctx.state['requestId'] as string }, 'a stream failed');
    endAnswer();
  });
}
