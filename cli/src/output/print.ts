import { withoutDirection } from '@svc/contract/protocol';
import { erasePartial } from './partial-row.js';
import { createPaint, type Paint } from './style.js';

/** Writes lines to stdout. */
export function printLines(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}

/** The answer as JSON, or as `render` shows it. */
export function print<T>(
  value: T,
  json: boolean | undefined,
  render: (value: T, paint: Paint) => readonly string[],
): void {
  printLines(
    json
      ? [JSON.stringify(value, null, 2)]
      : render(value, createPaint(process.stdout)).map(withoutDirection),
  );
}

/** Writes a message for people to stderr. */
export function note(text: string): void {
  erasePartial();
  process.stderr.write(`${withoutDirection(text)}\n`);
}

type StreamName = 'stdout' | 'stderr';

/** A line of a log as that stream gets it: on a terminal without what would show it in another order, elsewhere as it is. */
export function toRow(line: string, stream: StreamName): string {
  return process[stream].isTTY ? withoutDirection(line) : line;
}

/** As `toRow`, for the bytes of many lines. */
export async function* toRows(
  pieces: AsyncIterable<Uint8Array>,
  stream: StreamName,
): AsyncGenerator<Uint8Array | string> {
  if (!process[stream].isTTY) return yield* pieces;
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield withoutDirection(decoder.decode(piece, { stream: true }));
}

/** Writes to stdout as fast as its reader takes it; resolves with how much was written. A pipeline is not used, as it would close stdout. */
export async function writeOut(pieces: AsyncIterable<Uint8Array | string>): Promise<number> {
  let written = 0;
  for await (const piece of pieces) {
    written += piece.length;
    if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  return written;
}
