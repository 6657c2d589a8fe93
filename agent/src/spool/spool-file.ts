import { SPOOL_END } from '@svc/contract/protocol';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isOfAnother } from '../core/file-owner.js';

/** A longer line is no record: it is given up in pieces of this size. */
export const MAX_LINE_BYTES = 1024 * 1024;
/** A frame has about so much, or one line that is longer. */
const FRAME_BYTES = 256 * 1024;
/** Of the shortest lines it has no more than the server reads at once. */
const MAX_FRAME_LINES = 5000;
const NEWLINE = 10;
/** Must hold: a symbolic link is not followed, and a pipe not waited for. A training decides what lies in its spool directory. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A whole line. `to`: the offset behind it and its newline. */
export interface SpoolLine {
  readonly to: number;
  readonly text: string;
}

/** What lies at an offset of a spool file. */
export type Piece =
  | { readonly kind: 'lines'; readonly lines: readonly SpoolLine[] }
  | { readonly kind: 'too long'; readonly to: number }
  /** What follows of a line that is too long. */
  | { readonly kind: 'rest of long line'; readonly to: number; readonly isEnd: boolean }
  /** The writer has said that nothing comes behind. */
  | { readonly kind: 'end' }
  /** No whole line: nothing at all, or the beginning of one. */
  | { readonly kind: 'rest'; readonly sizeBytes: number };

/** Reads at most `buffer` of the file from the offset on, which may be within a line that is too long. Throws what `open` and `read` throw, and TypeError for what is no file of the job's. */
export async function readPiece(
  path: string,
  from: number,
  buffer: Buffer,
  isWithinLine = false,
): Promise<Piece> {
  const file = await open(path, READ_ONLY);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new TypeError(`${path} is not a file`);
    if (await isOfAnother(facts, dirname(path)))
      throw new TypeError(`${path} belongs to another user than the job's`);
    const bytesRead = await fill(file, from, buffer);
    const bytes = buffer.subarray(0, bytesRead);
    if (isWithinLine && bytesRead > 0) return toMore(bytes, from);
    return toPiece(bytes, from, bytesRead === buffer.length);
  } finally {
    await file.close();
  }
}

async function fill(file: FileHandle, from: number, buffer: Buffer): Promise<number> {
  let filled = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === buffer.length) return filled;
  }
}

function toMore(bytes: Buffer, from: number): Piece {
  const newline = bytes.indexOf(NEWLINE);
  const isEnd = newline >= 0;
  return { kind: 'rest of long line', to: from + (isEnd ? newline + 1 : bytes.length), isEnd };
}

function toPiece(bytes: Buffer, from: number, isFull: boolean): Piece {
  const lines: SpoolLine[] = [];
  let start = 0;
  while (start < FRAME_BYTES && lines.length < MAX_FRAME_LINES) {
    const newline = bytes.indexOf(NEWLINE, start);
    if (newline < 0) break;
    const text = bytes.toString('utf8', start, newline);
    if (text === SPOOL_END) return lines.length > 0 ? { kind: 'lines', lines } : { kind: 'end' };
    start = newline + 1;
    lines.push({ to: from + start, text });
  }
  if (lines.length > 0) return { kind: 'lines', lines };
  return isFull ? { kind: 'too long', to: from + bytes.length } : { kind: 'rest', sizeBytes: bytes.length };
}
