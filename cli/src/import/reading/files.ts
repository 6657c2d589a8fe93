import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { Unreadable } from './found-run.js';

const PIECE_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface Line {
  /** null: it is longer than allowed. */
  readonly text: string | null;
  /** Counts from 1. */
  readonly number: number;
}

/** Opens a regular file; a link is not followed, and a pipe does not block. */
export async function openFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Unreadable(`${path} is not a regular file`);
}

/** The text of a whole file. Throws Unreadable when it is longer. */
export async function readText(path: string, maxBytes: number): Promise<string> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    if (size > maxBytes)
      throw new Unreadable(`${path} has ${size} bytes, more than the ${maxBytes} that are read`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** As `readText`; null when there is no such file. */
export async function readTextIfThere(path: string, maxBytes: number): Promise<string | null> {
  return readText(path, maxBytes).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
}

/** When the file was last written, in ms. */
export async function writtenAt(path: string): Promise<number> {
  return Math.floor((await stat(path)).mtimeMs);
}

/** The pieces of a file up to its last line that has an end: a line without one is still being written. */
export async function* readWholeLines(path: string): AsyncGenerator<Buffer, void> {
  const file = await openFile(path);
  try {
    const end = await endOfLines(file);
    for (let at = 0; at < end;) {
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafe(PIECE_BYTES),
        0,
        Math.min(PIECE_BYTES, end - at),
        at,
      );
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function endOfLines(file: FileHandle): Promise<number> {
  let { size } = await file.stat();
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  while (size > 0) {
    const start = Math.max(0, size - PIECE_BYTES);
    const { bytesRead } = await file.read(piece, 0, size - start, start);
    const last = piece.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (last !== -1) return start + last + 1;
    size = start;
  }
  return 0;
}

/** The lines of a file that have an end, each in memory at most `maxBytes` long. Those that a piece completes come together. */
export async function* readLines(path: string, maxBytes: number): AsyncGenerator<Line[], void> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let number = 0;
  for await (const piece of readWholeLines(path)) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      const isTooLong = restBytes + end - from > maxBytes;
      const text = isTooLong ? null : Buffer.concat([...rest, piece.subarray(from, end)]).toString('utf8');
      lines.push({ text, number: ++number });
      [rest, restBytes, from] = [[], 0, end + 1];
    }
    restBytes += piece.length - from;
    if (restBytes <= maxBytes) rest.push(piece.subarray(from));
    else rest = [];
    if (lines.length > 0) yield lines;
  }
}
