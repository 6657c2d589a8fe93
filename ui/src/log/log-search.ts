import { parseAnsi, type AnsiSpan } from '../ansi.js';
import { countCells, CUT_CHARS, type LogRow } from './log-rows.js';

export interface LogSegment extends AnsiSpan {
  isMatch: boolean;
}

const PLAIN = { color: null, isBold: false, isDim: false, isItalic: false, isUnderlined: false };

/** The one character whose lower case is longer than it is. */
const DOTTED_I = '\u0130';

/** As long as the text: what is found in it stands at the same place there. Therefore İ stays as it is. */
export function toLowerCase(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text
    .split(DOTTED_I)
    .map((part) => part.toLowerCase())
    .join(DOTTED_I);
}

/** Does the line hold the text? Case does not count; `needle` is given by `toLowerCase`. */
export function isMatch({ text }: { readonly text: string }, needle: string): boolean {
  return needle !== '' && toLowerCase(text).includes(needle);
}

/** Character cells of the row before the first match; 0: there is none. */
export function cellsBefore(row: LogRow | undefined, needle: string): number {
  const at = row && needle !== '' ? toLowerCase(row.text).indexOf(needle) : -1;
  return at > 0 ? countCells(row!.text.slice(0, at)) : 0;
}

/** The row's text, as much as is shown of it, cut where its colour changes and where a match begins or ends. */
export function toSegments(row: LogRow, needle: string): LogSegment[] {
  const spans = row.colored === null ? [{ ...PLAIN, text: row.text }] : parseAnsi(row.colored);
  const matches = needle === '' ? [] : findAll(toLowerCase(row.text), needle);
  const segments =
    matches.length === 0
      ? spans.map((span) => ({ ...span, isMatch: false }))
      : spans.flatMap(cutter(matches, needle.length));
  return row.isCut ? cutOff(segments, CUT_CHARS) : segments;
}

function cutOff(segments: readonly LogSegment[], chars: number): LogSegment[] {
  let left = chars;
  const shown: LogSegment[] = [];
  for (const segment of segments) {
    if (left <= 0) break;
    shown.push({ ...segment, text: segment.text.slice(0, left) });
    left -= segment.text.length;
  }
  return shown;
}

/** Cuts consecutive spans at the borders of the matches. */
function cutter(matches: readonly number[], length: number): (span: AnsiSpan) => LogSegment[] {
  const borders = matches.flatMap((start) => [start, start + length]);
  let at = 0;
  let next = 0;
  return (span) => {
    const pieces: LogSegment[] = [];
    const end = at + span.text.length;
    let from = at;
    while (from < end) {
      while (next < borders.length && borders[next]! <= from) next += 1;
      const to = Math.min(end, borders[next] ?? end);
      pieces.push({ ...span, text: span.text.slice(from - at, to - at), isMatch: next % 2 === 1 });
      from = to;
    }
    at = end;
    return pieces;
  };
}

function findAll(text: string, needle: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) found.push(at);
  return found;
}
