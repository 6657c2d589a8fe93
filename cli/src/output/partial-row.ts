import type { PartialLine } from '@svc/contract';
import { LOG_STREAMS } from '@svc/contract/protocol';
import { stripVTControlCharacters } from 'node:util';
import { toPlainText } from './table.js';
import { cutToWidth } from './text-width.js';

type StreamName = PartialLine['stream'];

const ERASE = '\r\u001b[K';

const texts: Record<StreamName, string> = { stdout: '', stderr: '' };
let changedLast: StreamName = 'stdout';
let drawnOn: StreamName | null = null;

/** A log's line that has no end yet, to be drawn in the last row of the terminal; empty: there is none. Elsewhere it is not shown. */
export function setPartial({ stream, text }: PartialLine): void {
  texts[stream] = text;
  changedLast = stream;
}

/** To be called before anything else is written to the terminal. */
export function erasePartial(): void {
  if (drawnOn !== null) process[drawnOn].write(ERASE);
  drawnOn = null;
}

/** The program is about to end: what is drawn stays, and what comes next begins in a row of its own. */
export function finishPartial(): void {
  if (drawnOn !== null) process[drawnOn].write('\n');
  drawnOn = null;
}

/** Draws that which changed last in place of what is drawn; the other stream's when that has none. */
export function drawPartial(): void {
  erasePartial();
  const newestFirst = LOG_STREAMS.toSorted((a, b) => Number(b === changedLast) - Number(a === changedLast));
  const stream = newestFirst.find((name) => texts[name] !== '' && isDrawable(name));
  if (stream === undefined) return;
  process[stream].write(cutToWidth(toPartialText(texts[stream]), process[stream].columns - 1));
  drawnOn = stream;
}

/** The log is not followed any more, or not at the moment. */
export function forgetPartials(): void {
  texts.stdout = texts.stderr = '';
  erasePartial();
}

/** Without what controls a terminal: a progress bar may move the cursor. */
export function toPartialText(text: string): string {
  return toPlainText(stripVTControlCharacters(text));
}

function isDrawable(stream: StreamName): boolean {
  return process[stream].isTTY && process[stream].columns > 1 && process.env['TERM'] !== 'dumb';
}
