/** A stretch of text with one look. `color` is 0 to 15 of the terminal palette, or null for the plain colour. */
export interface AnsiSpan {
  text: string;
  color: number | null;
  isBold: boolean;
  isDim: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
}

type Look = Omit<AnsiSpan, 'text'>;

const PLAIN: Look = { color: null, isBold: false, isDim: false, isItalic: false, isUnderlined: false };

/** Every escape sequence: CSI (the colours among them), OSC (titles, links) and two-character ones; stray controls too. */
const ESCAPES =
  /\u001b\[([0-9:;<=>?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Text as a terminal would leave it to read: no escape sequences, no control characters, tabs as spaces. */
export function stripAnsi(text: string): string {
  return expandTabs(text.replace(ESCAPES, ''));
}

export function hasAnsi(text: string): boolean {
  return text.includes('\u001b[');
}

/** The text cut where its look changes. Joined, the spans give `stripAnsi(text)`. */
export function parseAnsi(text: string): AnsiSpan[] {
  const spans: AnsiSpan[] = [];
  let look = PLAIN;
  let from = 0;
  let column = 0;
  const add = (piece: string): void => {
    if (piece === '') return;
    const expanded = expandTabs(piece, column);
    column += expanded.length;
    spans.push({ text: expanded, ...look });
  };
  for (const match of text.matchAll(ESCAPES)) {
    add(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === 'm') look = applySgr(look, match[1] ?? '');
  }
  add(text.slice(from));
  return spans;
}

function applySgr(before: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).map(Number);
  const look = { ...before };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at]!;
    if (code === 38 || code === 48) {
      const extended = parseExtended(codes, at);
      if (code === 38 && extended.color !== null) look.color = extended.color;
      at = extended.last;
    } else applyCode(look, code);
  }
  return look;
}

function applyCode(look: Look, code: number): void {
  if (code === 0) Object.assign(look, PLAIN);
  else if (code === 1) look.isBold = true;
  else if (code === 2) look.isDim = true;
  else if (code === 3) look.isItalic = true;
  else if (code === 4) look.isUnderlined = true;
  else if (code === 22) look.isBold = look.isDim = false;
  else if (code === 23) look.isItalic = false;
  else if (code === 24) look.isUnderlined = false;
  else if (code >= 30 && code <= 37) look.color = code - 30;
  else if (code === 39) look.color = null;
  else if (code >= 90 && code <= 97) look.color = code - 82;
}

/** `38;5;n` and `38;2;r;g;b`, brought to the 16 colours that are legible in both themes. */
function parseExtended(codes: number[], at: number): { color: number | null; last: number } {
  const kind = codes[at + 1];
  if (kind === 5) return { color: toPalette256(codes[at + 2] ?? 0), last: at + 2 };
  if (kind === 2)
    return { color: toNearest(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0), last: at + 4 };
  return { color: null, last: at + 1 };
}

function toPalette256(index: number): number {
  if (index < 16) return index;
  if (index >= 232) return index < 240 ? 8 : 7;
  const cube = index - 16;
  const level = (part: number): number => (part === 0 ? 0 : 55 + 40 * part);
  return toNearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** The hue counts, not the brightness: bit 1 red, bit 2 green, bit 4 blue, as the palette is ordered. */
function toNearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 128 ? 8 : 7;
  const half = (most + least) / 2;
  const hue = (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
  return most > 200 ? hue + 8 : hue;
}

const TAB = 8;

function expandTabs(text: string, column = 0): string {
  if (!text.includes('\t')) return text;
  let at = column;
  let out = '';
  for (const char of text) {
    const piece = char === '\t' ? ' '.repeat(TAB - (at % TAB)) : char;
    at += piece.length;
    out += piece;
  }
  return out;
}
