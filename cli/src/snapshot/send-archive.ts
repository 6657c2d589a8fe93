import { ApiError, pause, type Client } from '@svc/client';
import { routes } from '@svc/contract';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Failure } from '../failure.js';
import { toSentence } from '../output/api-error.js';
import { toDuration, toSize } from '../output/format.js';

/** A server that has too much to do now is asked again for so long. */
const MAX_WAIT_MS = 120_000;
/** Where the server does not say how long it is to be left alone. */
const USUAL_PAUSE_MS = 2_000;
const CHUNK_BYTES = 64 * 1024;
const BUSY = new Set([429, 503]);

export interface Sending {
  readonly archive: FileHandle;
  /** Of the archive. */
  readonly sha256: string;
  readonly maxWaitMs?: number;
  /** Told when it takes longer, and why. */
  tell(sentence: string): void;
}

export function isThere(client: Client, sha256: string): Promise<boolean> {
  return client.has(routes.getSnapshot, { params: { sha256 } });
}

/** Sends the archive unless the server has it by now. Throws Failure for one that is too large, and when the server stays too busy. */
export async function sendArchive(client: Client, sending: Sending): Promise<void> {
  const { archive, sha256, tell, maxWaitMs = MAX_WAIT_MS } = sending;
  const startedMs = performance.now();
  for (let tries = 1; !(await isThere(client, sha256)); tries += 1) {
    const busy = await send(client, archive);
    if (busy === null) return;
    const pauseMs = busy.retryAfterMs ?? USUAL_PAUSE_MS;
    const reason = `the server cannot take the snapshot now: ${toSentence(busy)}`;
    if (performance.now() - startedMs + pauseMs > maxWaitMs)
      throw new Failure(`${reason} (sent ${tries} times in ${toDuration(performance.now() - startedMs)})`, {
        cause: busy,
      });
    if (tries === 1) tell(`${reason}; it is sent again for up to ${toDuration(maxWaitMs)}`);
    await pause(pauseMs);
  }
}

/** null: the server has it. An error: it is to be sent again. */
async function send(client: Client, archive: FileHandle): Promise<ApiError | null> {
  const body = Readable.toWeb(Readable.from(contentOf(archive))) as ReadableStream<Uint8Array>;
  const done = new AbortController();
  try {
    await client.call(routes.uploadSnapshot, { body, signal: done.signal });
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'payload_too_large')
      throw new Failure(toLimit(error, (await archive.stat()).size), { cause: error });
    if (BUSY.has(error.status)) return error;
    throw error;
  } finally {
    // A server that has refused it needs no more of it.
    done.abort();
  }
}

/** From its beginning each time, and without closing it, as a stream of Node would. */
async function* contentOf(archive: FileHandle): AsyncGenerator<Buffer> {
  let position = 0;
  while (true) {
    const { bytesRead, buffer } = await archive.read({ buffer: Buffer.alloc(CHUNK_BYTES), position });
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

function toLimit({ details }: ApiError, bytes: number): string {
  const limit = details['limit_bytes'];
  const most = typeof limit === 'number' ? `of at most ${toSize(limit)}` : 'of a smaller size';
  return `the snapshot takes ${toSize(bytes)} packed, and the server takes snapshots ${most}. Put what is not source into .svcignore, or raise max_mb of the plugin snapshots in svc.config.ts of the server`;
}
