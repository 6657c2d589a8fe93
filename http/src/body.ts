import { MIB } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import { HttpError } from '@svc/validation';
import { nextTurn } from './event-loop-turns.js';

/** The size of all bodies of unanswered requests: a body takes several times its size in memory once it is parsed. */
const MAX_HELD_BYTES = 256 * MIB;
/** Larger bodies wait for a turn of the event loop before they are parsed and checked. */
const LARGE_BYTES = 16 * 1024;

let heldBytes = 0;

/** The share of a request in the memory for bodies, from its first byte until it is answered. */
export class BodyShare {
  #bytes = 0;

  /** Throws unavailable when all requests together hold too much. */
  add(bytes: number): void {
    if (heldBytes + bytes > MAX_HELD_BYTES) {
      const message = 'the server holds too many large bodies now; send this one again in a moment';
      throw new HttpError('unavailable', message, {}, { 'Retry-After': '1' });
    }
    heldBytes += bytes;
    this.#bytes += bytes;
  }

  release(): void {
    heldBytes -= this.#bytes;
    this.#bytes = 0;
  }
}

/** The body as it comes, for a route that reads it itself. Reading fails when it is too large, stops coming or breaks off. */
export function openBody(request: IncomingMessage, limitBytes: number): Readable {
  const tooLarge = () => toTooLarge(limitBytes);
  if (Number(request.headers['content-length']) > limitBytes) throw tooLarge();
  let sizeBytes = 0;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) done(tooLarge());
      else done(null, chunk);
    },
  });
  request.on('timeout', () =>
    body.destroy(new HttpError('unavailable', 'the body stopped coming; send it again')),
  );
  request.on('error', (error) => body.destroy(error));
  // What comes after a refusal is let go, so that the client can read the answer.
  body.once('close', () => request.unpipe(body).resume());
  return request.pipe(body);
}

/** Resolves when a body of that size may be parsed, or be checked. */
export async function waitForTurn(bytes: number): Promise<void> {
  if (bytes > LARGE_BYTES) await nextTurn();
}

/** Reads the body and checks its size while it arrives. The rest of a refused body is discarded, so that the client can read the answer. */
export function readBody(request: IncomingMessage, limitBytes: number, share: BodyShare): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] | null = [];
    let sizeBytes = 0;
    const refuse = (error: unknown) => {
      chunks = null;
      share.release();
      reject(error as Error);
    };
    const tooLarge = () => toTooLarge(limitBytes);
    if (Number(request.headers['content-length']) > limitBytes) refuse(tooLarge());
    request.on('data', (chunk: Buffer) => {
      if (chunks === null) return;
      sizeBytes += chunk.length;
      try {
        if (sizeBytes > limitBytes) throw tooLarge();
        share.add(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        refuse(error);
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks ?? [])));
    request.on('timeout', () =>
      refuse(new HttpError('unavailable', 'the body stopped coming; send it again')),
    );
    request.on('error', refuse);
  });
}

function toTooLarge(limitBytes: number): HttpError {
  return new HttpError('payload_too_large', `the body is over ${limitBytes} bytes`, {
    limit_bytes: limitBytes,
  });
}
