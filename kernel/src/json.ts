import { HttpError, failValidation } from './errors.js';

const MAX_DEPTH = 64;
/** Values and names of fields. So much is parsed and checked in well under a quarter of a second, whatever it is. */
const MAX_PARTS = 200_000;
/** A longer number counts as several values: it takes as long. */
const CHARS_OF_A_VALUE = 32;

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACE = 0x20;

/**
 * Parses JSON from outside at a bounded cost. Throws payload_too_large and validation_error, SyntaxError for what is no JSON, and
 * TypeError for what is not UTF-8.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const { parts, depth } = measureJson(bytes);
  if (parts > MAX_PARTS) {
    const message = `this JSON has more than ${MAX_PARTS} values and field names; send it in smaller parts`;
    throw new HttpError('payload_too_large', message);
  }
  const value = JSON.parse(decodeUtf8(bytes)) as unknown;
  // Deeper ones would overflow the stack of whoever checks or writes them later.
  if (depth > MAX_DEPTH + 1) refuseDeep(value as object);
  return value;
}

/** Throws TypeError for what is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** In one pass that allocates nothing: how deep it nests, and an upper bound for its values and field names. */
export function measureJson(bytes: Uint8Array): { readonly parts: number; readonly depth: number } {
  let [parts, plainChars, level, depth, isInString] = [1, 0, 0, 0, false];
  for (let at = 0; at < bytes.length; at += 1) {
    const char = bytes[at] as number;
    if (isInString) {
      if (char === BACKSLASH) at += 1;
      else if (char === QUOTE) isInString = false;
    } else if (char === QUOTE) {
      isInString = true;
    } else if (char === COMMA || char === COLON) {
      parts += 1;
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      parts += 1;
      level += 1;
      if (level > depth) depth = level;
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      level -= 1;
    } else if (char > SPACE) {
      plainChars += 1;
    }
  }
  return { parts: parts + Math.floor(plainChars / CHARS_OF_A_VALUE), depth };
}

function refuseDeep(value: object): never {
  const [path] = Object.entries(value).find(([, inner]) => isTooDeep(inner, MAX_DEPTH)) as [string, unknown];
  return failValidation({ path, message: `must not nest more than ${MAX_DEPTH} levels deep` });
}

function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}
