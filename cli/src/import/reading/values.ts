import { Unreadable } from './found-run.js';

export type Fields = Readonly<Record<string, unknown>>;

/** A number as Python writes it, `nan` and `-inf` too; null for what is none. */
export function parsePythonNumber(text: string): number | null {
  const word = text.trim().toLowerCase();
  if (/^[+-]?nan$/.test(word)) return NaN;
  if (/^[+-]?inf(inity)?$/.test(word)) return word.startsWith('-') ? -Infinity : Infinity;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(word) ? Number(word) : null;
}

/** JSON as Python's json module writes it: it may hold the bare words NaN, Infinity and -Infinity, which become strings. */
export function parsePythonJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(
      text.replace(STRINGS_AND_WORDS, (token, word: string | undefined) => (word ? `"${word}"` : token)),
    );
  }
}

const STRINGS_AND_WORDS = /"(?:[^"\\]|\\.)*"|(-?\bInfinity\b|\bNaN\b)/g;

/** A number, a boolean as 0 or 1, or one of the words NaN, Infinity and -Infinity; null for anything else. */
export function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? Number(value) : null;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Milliseconds since the epoch that the contract takes; undefined for anything else. */
export function toTime(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const ms = Math.floor(value);
  return ms >= 0 && ms <= LAST_MS ? ms : undefined;
}

const LAST_MS = 8_640_000_000_000_000;

/** Throws Unreadable for what is no JSON object. */
export function parseObject(text: string, path: string): Fields {
  let value: unknown;
  try {
    value = parsePythonJson(text);
  } catch {
    throw new Unreadable(`${path} is no complete JSON; it may still be being written`);
  }
  if (!isFields(value)) throw new Unreadable(`${path} holds no JSON object`);
  return value;
}
