import { HttpError, failValidation } from './errors.js';

const MAX_DEPTH = 64;
/** The maximum number of values and field names. Parsing and checking this many takes well under a quarter of a second. */
export const MAX_PARTS = 200_000;
const MAX_NAME_BYTES = 200;
/** A longer number counts as several values, as it takes as long to parse. */
const DIGITS_OF_A_VALUE = 32;
/** Most strings end within so many bytes, which a loop finds faster than a call of indexOf. */
const NEAR_BYTES = 64;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Parses untrusted JSON at a bounded cost. Throws payload_too_large and validation_error, SyntaxError for malformed JSON, and TypeError for
 * malformed UTF-8.
 */
export function parseJson(bytes: Uint8Array, maxParts = MAX_PARTS): unknown {
  const { parts, deepAt } = measureJson(bytes, maxParts);
  // Deeper values would overflow the stack of later recursive code.
  if (deepAt !== null)
    failValidation({
      path: nameAt(bytes, deepAt),
      message: `must not nest more than ${MAX_DEPTH} levels deep`,
    });
  if (parts > maxParts) {
    const message = `this JSON has more than ${maxParts} values and field names; send it in smaller parts`;
    throw new HttpError('payload_too_large', message);
  }
  return JSON.parse(decodeUtf8(bytes));
}

/** Throws TypeError for what is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

interface Measure {
  /** An upper bound for its values and field names. */
  readonly parts: number;
  /** Where the name of the first top-level field begins that nests too deep; null when none does. */
  readonly deepAt: number | null;
}

/** Counts in one pass without allocations. It stops when the value nests too deep or has more than `maxParts`. */
export function measureJson(bytes: Uint8Array, maxParts = Infinity): Measure {
  let parts = 1;
  let digits = 0;
  let level = 0;
  let fieldAt = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const char = bytes[at] as number;
    if (char >= ZERO && char <= NINE) {
      digits += 1;
    } else if (char === QUOTE) {
      if (level === 1) fieldAt = at;
      at = endOfString(bytes, at + 1);
    } else if (char === COMMA || char === COLON) {
      parts += 1;
      if (parts > maxParts) return { parts, deepAt: null };
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      parts += 1;
      level += 1;
      // The top-level object does not count as a level.
      if (level > MAX_DEPTH + 1) return { parts, deepAt: fieldAt };
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      level -= 1;
    }
  }
  return { parts: parts + Math.floor(digits / DIGITS_OF_A_VALUE), deepAt: null };
}

/** The index of the closing quote; `start` is after the opening one. Native search goes through what is long. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const nearEnd = at + NEAR_BYTES;
    while (at < nearEnd && at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (at < nearEnd) return at;
    const quoteAt = bytes.indexOf(QUOTE, at);
    if (quoteAt === -1) return bytes.length;
    if (!isEscaped(bytes, at, quoteAt)) return quoteAt;
    at = quoteAt + 1;
  }
  return at;
}

/** Whether an odd number of backslashes stands before `at`; no escape begins before `start`. */
function isEscaped(bytes: Uint8Array, start: number, at: number): boolean {
  let first = at;
  while (first > start && bytes[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** The field name at that index; empty when there is none, or it has escapes. */
function nameAt(bytes: Uint8Array, at: number): string {
  const start = Buffer.from(bytes.subarray(at, at + MAX_NAME_BYTES)).toString();
  return /^"([^"\\]*)"/.exec(start)?.[1] ?? '';
}
