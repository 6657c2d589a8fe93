/**
 * Hyperparameters that a training has written as a text: a markdown table of names and values, as CleanRL and those who follow it do, or
 * a JSON object, as the Trainer of Hugging Face does. `test/fixtures/text-config.json` holds the Python SDK to the same.
 */

/** The tags of such texts; PyTorch and tensorboardX add `/text_summary`. */
const TAG = /^(hyper_?param(eter)?s|hparams|config|args|model_config)(\/text_summary)?$/i;
/** A longer text is none of hyperparameters. */
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_DEPTH = 20;
const FENCE = /^```\w*\n([^]*)\n```$/;
/** The line below the heads of a table of two columns. */
const RULE = /^\|? *:?-+:? *\| *:?-+:? *\|?$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** A string, to its end or that of the text, or what Python writes for a number that JSON does not have. */
const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\[^])*"?|NaN|-?Infinity/g;
const WORDS: Readonly<Record<string, boolean | null>> = { True: true, False: false, None: null };

/** As JSON, with "NaN", "Infinity" and "-Infinity" for what it has no number for. Null for a text that is something else. */
export function configOfText(tag: string, bytes: Uint8Array): Record<string, unknown> | null {
  if (bytes.length > MAX_TEXT_BYTES || !TAG.test(tag)) return null;
  const text = Buffer.from(bytes).toString().trim();
  return text.startsWith('|') ? tableOf(text) : objectOf(FENCE.exec(text)?.[1] ?? text);
}

function tableOf(text: string): Record<string, unknown> | null {
  const [, rule, ...rows] = text.split('\n').map((line) => line.trim());
  if (rule === undefined || !RULE.test(rule)) return null;
  return Object.fromEntries(rows.filter((row) => row.startsWith('|')).map(entryOf));
}

/** A value may have bars of its own. */
function entryOf(row: string): [name: string, value: unknown] {
  const [name, ...rest] = row.replace(/^\|/, '').replace(/\|$/, '').split('|');
  return [plain(name ?? ''), valueOf(plain(rest.join('|')))];
}

function plain(cell: string): string {
  return cell.trim().replace(/^`(.*)`$/, '$1');
}

function valueOf(text: string): unknown {
  if (Object.hasOwn(WORDS, text)) return WORDS[text];
  return NUMBER.test(text) ? toFinite(Number(text)) : text;
}

function objectOf(text: string): Record<string, unknown> | null {
  if (!text.startsWith('{')) return null;
  try {
    const object = JSON.parse(toJson(text), (_name, value: unknown) => toFinite(value)) as Record<
      string,
      unknown
    >;
    return isWithin(object, MAX_DEPTH) ? object : null;
  } catch {
    return null;
  }
}

function toJson(text: string): string {
  return text.replace(STRING_OR_NON_FINITE, (part) => (part.startsWith('"') ? part : `"${part}"`));
}

/** A text may write a number that is too large for one. */
function toFinite(value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((entry) => isWithin(entry, depth - 1));
}
