import { syncDirectory } from '@svc/kernel';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import { isBefore, parseRecord, toBytes, type LogRecord } from './log-record.js';

const NEWLINE = 0x0a;
const BLOCK_BYTES = 256 * 1024;

/** A record and where the next one begins, in bytes of the uncompressed file. */
export interface PlacedRecord {
  readonly record: LogRecord;
  readonly end: number;
}

/**
 * The file of one attempt's log: `attempt-n.ndjson` while it grows, `attempt-n.ndjson.gz` once it is complete. Only one caller
 * writes at a time. Bytes after the size that the writer knows are not part of the log.
 */
export class LogFile {
  #isEntrySynced = false;

  constructor(
    private readonly path: string,
    private readonly writeLimit: ConcurrencyLimit,
  ) {}

  get #gzPath(): string {
    return `${this.path}.gz`;
  }

  async isCompressed(): Promise<boolean> {
    return exists(this.#gzPath);
  }

  /** Removes what a crash left: an incomplete last record, or the plain form of a file that is compressed. Returns the size in bytes. */
  async repair(): Promise<number> {
    if (await this.isCompressed()) {
      await this.removePlain();
      return 0;
    }
    const handle = await openExisting(this.path, 'r+');
    if (!handle) return 0;
    try {
      const { size } = await handle.stat();
      const intact = await intactSize(handle, size);
      if (intact < size) await handle.truncate(intact);
      return intact;
    } finally {
      await handle.close();
    }
  }

  /** Writes the record at the offset `sizeBytes` and returns the new size. After a failed write it tries to truncate the file. */
  append(record: LogRecord, sizeBytes: number): Promise<number> {
    return this.writeLimit.run(() => this.#appendNow(record, sizeBytes));
  }

  async #appendNow(record: LogRecord, sizeBytes: number): Promise<number> {
    const bytes = toBytes(record);
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const handle = await open(this.path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      await writeAll(handle, bytes, sizeBytes);
      return sizeBytes + bytes.length;
    } catch (error) {
      await handle.truncate(sizeBytes).catch(() => undefined);
      throw error;
    } finally {
      await handle.close();
    }
  }

  /** Syncs what was written before the call to disk. */
  async sync(): Promise<void> {
    await this.writeLimit.run(() => this.#syncNow());
  }

  async #syncNow(): Promise<void> {
    const handle = await openExisting(this.path, 'r');
    if (!handle) return;
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
    if (this.#isEntrySynced) return;
    await syncDirectory(dirname(this.path));
    await syncDirectory(dirname(dirname(this.path)));
    this.#isEntrySynced = true;
  }

  async truncate(sizeBytes: number): Promise<void> {
    const handle = await openExisting(this.path, 'r+');
    try {
      await handle?.truncate(sizeBytes);
    } finally {
      await handle?.close();
    }
  }

  /** The records from the byte offset `start` on, up to `sizeBytes` in a file that is not compressed, less those before the line `seq`. */
  async *forward(start: number, sizeBytes: number, seq = 0): AsyncGenerator<PlacedRecord> {
    const handle = start < sizeBytes ? await openExisting(this.path, 'r') : null;
    if (handle) {
      yield* recordsOf(handle.createReadStream({ start, end: sizeBytes - 1 }), start, seq);
    } else if (await this.isCompressed()) {
      // An error of either stream is thrown by the loop, and both are closed if the caller stops early.
      const unzipped = pipe(createReadStream(this.#gzPath), createGunzip(), () => undefined);
      for await (const entry of recordsOf(unzipped, 0, seq)) if (entry.end > start) yield entry;
    }
  }

  /** The records of a file that is not compressed, newest first. */
  async *backward(sizeBytes: number): AsyncGenerator<LogRecord> {
    const handle = await openExisting(this.path, 'r');
    if (!handle) return;
    try {
      for await (const line of linesBackward(handle, sizeBytes)) {
        const record = parseRecord(line);
        if (record) yield record;
      }
    } finally {
      await handle.close();
    }
  }

  /** Writes the compressed file beside the plain one, atomically. */
  async compress(sizeBytes: number, signal?: AbortSignal): Promise<void> {
    const temporary = `${this.#gzPath}.tmp`;
    const plain = createReadStream(this.path, { end: sizeBytes - 1 });
    const zipped = createWriteStream(temporary, { mode: 0o600, flush: true });
    try {
      await pipeline(plain, createGzip(), zipped, { signal });
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await rename(temporary, this.#gzPath);
    await syncDirectory(dirname(this.path));
  }

  /** To be called once the compressed file exists. */
  async removePlain(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** The size up to the end of the last intact record. */
async function intactSize(handle: FileHandle, size: number): Promise<number> {
  let intact = size;
  let isUnterminated = true;
  for await (const line of linesBackward(handle, size)) {
    if (isUnterminated) intact -= line.length;
    else if (parseRecord(line)) return intact;
    else intact -= line.length + 1;
    isUnterminated = false;
  }
  return 0;
}

/** The lines of the first `size` bytes, last one first. The first one yielded is what follows the last newline, possibly nothing. */
async function* linesBackward(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for (let end = size; end > 0; end -= BLOCK_BYTES) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = await readBlock(handle, start, end - start);
    let lineEnd = block.length;
    for (let at = block.lastIndexOf(NEWLINE); at >= 0; at = lastNewlineBefore(block, at)) {
      yield Buffer.concat([block.subarray(at + 1, lineEnd), ...parts]);
      parts = [];
      lineEnd = at;
    }
    parts.unshift(block.subarray(0, lineEnd));
  }
  yield Buffer.concat(parts);
}

function lastNewlineBefore(block: Buffer, at: number): number {
  return at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1);
}

async function readBlock(handle: FileHandle, start: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafeSlow(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await handle.read(block, read, length - read, start + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return block.subarray(0, read);
}

async function* recordsOf(
  source: AsyncIterable<Buffer>,
  start: number,
  seq: number,
): AsyncGenerator<PlacedRecord> {
  let end = start;
  let parts: Buffer[] = [];
  for await (const block of source) {
    let lineStart = 0;
    for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, at + 1)) {
      const line = Buffer.concat([...parts, block.subarray(lineStart, at)]);
      parts = [];
      lineStart = at + 1;
      end += line.length + 1;
      const record = seq > 0 && isBefore(line, seq) ? null : parseRecord(line);
      if (record) yield { record, end };
    }
    parts.push(block.subarray(lineStart));
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function openExisting(path: string, flags: 'r' | 'r+'): Promise<FileHandle | null> {
  try {
    return await open(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
