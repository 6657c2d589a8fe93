import { crc32 } from 'node:zlib';
import { openFile } from '../../reading/files.js';
import { Unreadable } from '../../reading/found-run.js';

/** `:W&B`, a magic number and a version. */
const HEADER = Buffer.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0x00]);
const BLOCK_BYTES = 32 * 1024;
/** CRC-32 of type and data (4 bytes), length (2), type (1). */
const CHUNK_HEADER_BYTES = 7;
const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4];
/** A longer record holds media, not numbers. */
const RECORD_BYTES = 16 * 1024 * 1024;

/** One record: its bytes, or why there are none. */
export type LogRecord =
  { readonly bytes: Buffer } | { readonly lost: 'a corrupt record' | 'a record of more than 16 MiB' };

/**
 * The records of a .wandb file, in the format of LevelDB's log. What is not valid is passed over up to the next block of 32 KiB; a record
 * that is cut off at the end of the file is still being written.
 */
export async function* readLog(path: string): AsyncGenerator<LogRecord, void> {
  const file = await openFile(path);
  try {
    const block = Buffer.alloc(BLOCK_BYTES);
    const joiner = new Joiner();
    for (let at = 0; ; at += BLOCK_BYTES) {
      const { bytesRead } = await file.read(block, 0, BLOCK_BYTES, at);
      const bytes = block.subarray(0, bytesRead);
      if (at === 0 && !bytes.subarray(0, HEADER.length).equals(HEADER))
        throw new Unreadable(`${path} is no file of wandb, or of another version of its format`);
      yield* readBlock(bytes, at === 0 ? HEADER.length : 0, joiner);
      if (bytesRead < BLOCK_BYTES) return;
    }
  } finally {
    await file.close();
  }
}

function* readBlock(block: Buffer, from: number, joiner: Joiner): Generator<LogRecord> {
  for (let at = from; at + CHUNK_HEADER_BYTES <= block.length;) {
    const length = block.readUInt16LE(at + 4);
    const end = at + CHUNK_HEADER_BYTES + length;
    if (end > block.length) {
      if (block.length === BLOCK_BYTES) yield joiner.lose();
      return;
    }
    if (crc32(block.subarray(at + 6, end)) !== block.readUInt32LE(at)) {
      yield joiner.lose();
      return;
    }
    const record = joiner.add(block[at + 6] as number, block.subarray(at + CHUNK_HEADER_BYTES, end));
    if (record) yield record;
    at = end;
  }
}

/** Puts the pieces of a record together that lie in several blocks. */
class Joiner {
  #pieces: Buffer[] | null = null;
  #sizeBytes = 0;

  /** What the chunk completes. */
  add(type: number, piece: Buffer): LogRecord | null {
    const begins = type === FULL || type === FIRST;
    if (begins !== (this.#pieces === null)) return this.lose();
    if (begins) [this.#pieces, this.#sizeBytes] = [[], 0];
    this.#sizeBytes += piece.length;
    // The block is written over by the next one.
    if (this.#sizeBytes <= RECORD_BYTES) this.#pieces?.push(Buffer.from(piece));
    if (type !== FULL && type !== LAST) return type === FIRST || type === MIDDLE ? null : this.lose();
    const pieces = this.#pieces ?? [];
    this.#pieces = null;
    if (this.#sizeBytes > RECORD_BYTES) return { lost: 'a record of more than 16 MiB' };
    return { bytes: Buffer.concat(pieces) };
  }

  lose(): LogRecord {
    this.#pieces = null;
    return { lost: 'a corrupt record' };
  }
}
