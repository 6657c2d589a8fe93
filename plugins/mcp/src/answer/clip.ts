/** Ids and labels are never shortened. */
export const SHORTEST_CLIP = 64;

/** How much of one value is shown. */
export interface Bounds {
  readonly characters: number;
  /** Of an array or an object. */
  readonly entries: number;
  /** So many of an object are shown in any case: no record within an answer has more. */
  readonly fields: number;
}

/** The value with long texts, arrays and objects shortened; `cut` gets a sentence for each of them. */
export function clip(value: unknown, bounds: Bounds, path: string, cut: Set<string>): unknown {
  if (typeof value === 'string') return clipText(value, bounds.characters, path, cut);
  if (Array.isArray(value)) {
    const shown = value.slice(0, bounds.entries);
    noteEntries(shown.length, value.length, path, cut);
    return shown.map((item) => clip(item, bounds, path, cut));
  }
  if (value === null || typeof value !== 'object') return value;
  const all = Object.entries(value);
  const shown = path === '' ? all : all.slice(0, Math.max(bounds.entries, bounds.fields));
  noteEntries(shown.length, all.length, path, cut);
  return Object.fromEntries(
    shown.map(([name, item]) => [
      clipText(toPrintable(name), 250, path, cut),
      clip(item, bounds, path === '' ? name : `${path}.${name}`, cut),
    ]),
  );
}

/** Controls but tab and line feed, and what no reader sees: formats (`Cf`, with the tags of Unicode), line separators, variation selectors. */
const NOT_PRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]|\p{Cf}|\p{Variation_Selector}/gu;

/** Without the control characters of terminals and of binary data, and without invisible ones; line breaks and tabs stay. */
export function toPrintable(text: string): string {
  return text
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .replace(NOT_PRINTABLE, '')
    .replace(/\ufffd{2,}/g, '\ufffd');
}

function clipText(text: string, characters: number, path: string, cut: Set<string>): string {
  if (text.length <= Math.max(characters, SHORTEST_CLIP)) return text;
  cut.add(`${path || 'text'}: shortened to ${characters} characters`);
  return `${text.slice(0, characters - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function noteEntries(shown: number, all: number, path: string, cut: Set<string>): void {
  if (shown < all) cut.add(`${path || 'answer'}: ${shown} of ${all} shown`);
}
