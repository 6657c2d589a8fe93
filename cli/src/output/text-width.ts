import { stripVTControlCharacters } from 'node:util';

/** Chinese, Japanese and Korean characters and emoji take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NARROW = /^[\u0020-\u02ff]*$/;

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** How many columns of a terminal the text takes. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  return [...characters.segment(text)].reduce((sum, { segment }) => sum + widthOfCharacter(segment), 0);
}

/** The text, or its beginning and `…`, in at most so many columns. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let shown = '';
  let left = width - 1;
  for (const { segment } of characters.segment(text)) {
    left -= widthOfCharacter(segment);
    if (left < 0) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** The parts side by side, in as many lines as they need. */
export function toLines(parts: readonly string[], gap: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = lines.length > 0 ? `${lines.at(-1)}${gap}${part}` : part;
    const fits = lines.length > 0 && widthOf(stripVTControlCharacters(longer)) <= width;
    if (fits) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

function widthOfCharacter(character: string): number {
  if (WIDE.test(character)) return 2;
  return /^[\p{Mark}\p{Format}]+$/u.test(character) ? 0 : 1;
}
