// Gives the content of a gzipped tar to a reader, alike on the server, on the agent and in `svc code`: what one takes, all take.
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { win32 } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';

const CHUNK_BYTES = 64 * 1024;
/** A reader takes so much without a pause: it may make 4 files of it, each with all its directories. */
const SLICE_BYTES = 2 * 1024;
/** Others have their turn after so long. */
const TURN_MS = 10;
/** Packers fill the last record with zeros. */
const MOST_PADDING_BYTES = 256 * 1024;
/** Of gzip and zstd: the reader would unpack what begins so once more, and nothing bounds that. */
const PACKED = /^(1f8b|28b52ffd)/;
const MAGIC_BYTES = 4;

/** Only as fast as the reader takes it, so the memory stays small. Rejects when the reader fails, and at once when `signal` aborts. */
export async function feedArchive(file, reader, { mostBytes = Infinity, signal } = {}) {
  const end = { hasCome: false, behindBytes: 0 };
  let bytes = 0;
  let failure = null;
  const done = new Promise((resolve, reject) => reader.once('end', resolve).on('error', reject));
  done.catch(() => undefined);
  reader.on('eof', () => (end.hasCome = true));
  const take = async (chunk) => {
    if (bytes === 0 && PACKED.test(chunk.toString('hex', 0, MAGIC_BYTES)))
      throw new Error('it is packed twice');
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error(`unpacked it takes more than ${mostBytes} bytes`);
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      signal?.throwIfAborted();
      await takeSlice(chunk.subarray(at, at + SLICE_BYTES));
    }
  };
  let turnMs = performance.now();
  const takeSlice = async (slice) => {
    if (end.hasCome) checkPadding(slice, end);
    else if (!reader.write(slice)) await Promise.race([once(reader, 'drain', { signal }), done]);
    if (performance.now() - turnMs < TURN_MS) return;
    await nextTurn();
    turnMs = performance.now();
  };
  const takeAll = async (chunks) => {
    for await (const chunk of withWholeMagic(chunks)) {
      await take(chunk).catch((error) => {
        failure = error;
        throw error;
      });
    }
  };
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  await pipeline(createReadStream(file), gunzip, takeAll, { signal }).catch((error) => {
    // The streams that it stops tell of that, not of the reason.
    throw failure ?? error;
  });
  reader.end();
  await Promise.race([done, whenAborted(signal)]);
}

/** The name cannot be unpacked everywhere: it is absolute or leads up, also as Windows reads it. */
export function isOutside(name) {
  return win32.parse(name).root !== '' || name.split(/[\\/]/).includes('..');
}

async function* withWholeMagic(chunks) {
  let head = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === null) yield chunk;
    else if ((head = Buffer.concat([head, chunk])).length >= MAGIC_BYTES) {
      yield head;
      head = null;
    }
  }
  if (head !== null) yield head;
}

function checkPadding(chunk, end) {
  end.behindBytes += chunk.length;
  if (end.behindBytes > MOST_PADDING_BYTES || chunk.some((byte) => byte !== 0))
    throw new Error('more stands behind its end');
}

function whenAborted(signal) {
  return new Promise((_resolve, reject) => {
    const give = () => reject(signal.reason);
    if (signal?.aborted) give();
    else signal?.addEventListener('abort', give, { once: true });
  });
}
