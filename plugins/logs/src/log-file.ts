import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Gate } from './gate.js';
import { parseRecord, toBytes, type LogRecord } from './log-record.js';

const NEWLINE = 0x0a;
const BLOCK_BYTES = 256 * 1024;

/** A record and where the next one begins, in bytes of the uncompressed file. */
export interface PlacedRecord {
  readonly record: LogRecord;
  readonly end: number;
}

/**
 * The file of one attempt's log: `attempt-n.ndjson` while it grows, `attempt-n.ndjson.gz` once it is complete. Only one caller
 * writes at a time. Whatever lies behind the size that the writer knows of is not part of the log.
 */
export class LogFile {
  #isEntrySynced = false;

  constructor(
    private readonly path: string,
    private readonly gate: Gate,
  ) {}

  get #gzPath(): string {
    return `${this.path}.gz`;
  }

  async isCompressed(): Promise<boolean> {
    return exists(this.#gzPath);
  }

  /** Removes what a crash left: a torn end, and the other form of a file that was just compressed. Returns the size in bytes. */
  async repair(): Promise<number> {
    if (await this.isCompressed()) {
      await this.removePlain();
      return 0;
    }
    const handle = await openExisting(this.path, 'r+');
    if (!handle) return 0;
    try {
      const { size } = await handle.stat();
      const sound = await soundSize(handle, size);
      if (sound < size) await handle.truncate(sound);
      return sound;
    } finally {
      await handle.close();
    }
  }

  /** Writes the record at that size; returns the new size. What a failed write leaves behind is taken away as far as possible. */
  append(record: LogRecord, sizeBytes: number): Promise<number> {
    return this.gate.run(() => this.#appendNow(record, sizeBytes));
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

  /** What was written before the call outlives a loss of power. */
  async sync(): Promise<void> {
    await this.gate.run(() => this.#syncNow());
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

  /** Takes away what lies behind that size. */
  async cutTo(sizeBytes: number): Promise<void> {
    const handle = await openExisting(this.path, 'r+');
    try {
      await handle?.truncate(sizeBytes);
    } finally {
      await handle?.close();
    }
  }

  /** Records from the byte `start` on, in order, up to `sizeBytes` while the file grows. */
  async *forward(start: number, sizeBytes: number): AsyncGenerator<PlacedRecord> {
    const handle = start < sizeBytes ? await openExisting(this.path, 'r') : null;
    if (handle) {
      yield* placed(handle.createReadStream({ start, end: sizeBytes - 1 }), start);
    } else if (await this.isCompressed()) {
      // Ends with the error of either, which the loop throws; what is not read to its end is closed as well.
      const unzipped = pipe(createReadStream(this.#gzPath), createGunzip(), () => undefined);
      for await (const entry of placed(unzipped, 0)) if (entry.end > start) yield entry;
    }
  }

  /** Records from the last one back, of a file that is not compressed. */
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

  /** Puts the compressed form beside the file, whole or not at all. */
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

  /** Once the compressed form is there. */
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

/** Up to the end of the last record that is whole. */
async function soundSize(handle: FileHandle, size: number): Promise<number> {
  let sound = size;
  let isUnterminated = true;
  for await (const line of linesBackward(handle, size)) {
    if (isUnterminated) sound -= line.length;
    else if (parseRecord(line)) return sound;
    else sound -= line.length + 1;
    isUnterminated = false;
  }
  return 0;
}

/** What newlines separate in the first `size` bytes, from the last back. The first one given stands behind the last newline. */
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

async function* placed(source: AsyncIterable<Buffer>, start: number): AsyncGenerator<PlacedRecord> {
  let end = start;
  let parts: Buffer[] = [];
  for await (const block of source) {
    let lineStart = 0;
    for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, at + 1)) {
      const line = Buffer.concat([...parts, block.subarray(lineStart, at)]);
      parts = [];
      lineStart = at + 1;
      end += line.length + 1;
      const record = parseRecord(line);
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

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
