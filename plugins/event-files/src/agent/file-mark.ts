import { readRange, withFile } from '@svc/agent/file-ranges';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** The first record has the time at which its file was made. */
const HEAD_BYTES = 64;
/** The last records that were read have their times too. */
const TAIL_BYTES = 4096;
/** Around the data of a record: its length and two checksums. */
const RECORD_FRAME_BYTES = 16;

/** Tells a file by its content, as it may be replaced by a longer copy of itself. */
export interface Mark {
  /** Its first record, or the beginning of it, in base64; empty until it is there. */
  readonly head: string;
  /** A hash of what lies before the place up to which it is read; empty: not known. */
  readonly tail: string;
}

/** `behind`: it may be the same, and is not yet as long as it was. */
export type Comparison = 'same' | 'behind' | 'other';

/** Throws the error of the file system, and a TypeError when the path is no regular file. */
export function readMark(file: string, offset: number): Promise<Mark> {
  return withFile(file, async (handle) => ({
    head: await readHead(handle),
    tail: await readTail(handle, offset),
  }));
}

/** Whether the file is the one with that mark, of which `offset` bytes are read. Throws as `readMark`. */
export function compare(file: string, { head, tail }: Mark, offset: number): Promise<Comparison> {
  return withFile(file, async (handle, size) => {
    const known = Buffer.from(head, 'base64');
    const begin = await readRange(handle, 0, known.length);
    if (!known.subarray(0, begin.length).equals(begin)) return 'other';
    if (size < offset) return 'behind';
    return tail === '' || (await readTail(handle, offset)) === tail ? 'same' : 'other';
  });
}

async function readHead(handle: FileHandle): Promise<string> {
  const bytes = await readRange(handle, 0, HEAD_BYTES);
  if (bytes.length < RECORD_FRAME_BYTES) return '';
  const record = Number(bytes.readBigUInt64LE()) + RECORD_FRAME_BYTES;
  const length = Math.min(HEAD_BYTES, record);
  return bytes.length < length ? '' : bytes.subarray(0, length).toString('base64');
}

async function readTail(handle: FileHandle, offset: number): Promise<string> {
  const length = Math.min(TAIL_BYTES, offset);
  const bytes = await readRange(handle, offset - length, length);
  return bytes.length < length || length === 0 ? '' : createHash('sha256').update(bytes).digest('base64');
}
