import { erasePartial } from './partial-row.js';
import { createPaint, type Paint } from './style.js';
import { withoutDirection } from './table.js';

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

/** Writes bytes to stdout as fast as its reader takes them. A pipeline is not used, as it would close stdout. */
export async function writeOut(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}
