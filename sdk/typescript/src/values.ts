import { maskSecrets, maskText, toMetricValue } from '@svc/contract/protocol';
import { warnOnce } from './notices.js';

const MAX_NAME_CHARACTERS = 250;
const MAX_DEPTH = 20;
/** The server takes bodies of 1 MiB. */
export const MAX_OBJECT_BYTES = 512 * 1024;
/** What the server takes as the data of an event or the metadata of a checkpoint. */
export const MAX_ATTACHED_BYTES = 64 * 1024;
const MAX_MASKED_CHARACTERS = 64 * 1024;

/** Names and numbers; the names of nested objects are joined with `/`. What cannot be used is warned about once, and left out. */
export function* toValues(metrics: object, prefix = '', depth = 0): Generator<[name: string, value: number]> {
  for (const [key, value] of Object.entries(metrics) as [string, unknown][]) {
    const name = prefix + key;
    const number = typeof value === 'bigint' || typeof value === 'boolean' ? Number(value) : value;
    if (isNested(value) && depth < MAX_DEPTH) yield* toValues(value, `${name}/`, depth + 1);
    else if (typeof number === 'number' && problemOf(name) === null) yield [name, number];
    else {
      const shown = name.slice(0, 80);
      const problem = problemOf(name) ?? `a value of type ${typeof value} is not a number`;
      warnOnce(`metric ${shown}`, `metric "${shown}" is left out: ${problem}`);
    }
  }
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

export function problemOf(name: string): string | null {
  if (name === '') return 'the name is empty';
  if (name.length > MAX_NAME_CHARACTERS) return `the name is longer than ${MAX_NAME_CHARACTERS} characters`;
  if (/[\u0000-\u001f\u007f]/.test(name)) return 'the name holds a control character';
  return toPlain(name) === name ? null : 'the name is not valid Unicode';
}

/** The object as JSON says it, without its secrets; null, with a warning, when it is larger than the server takes. */
export function toObject(
  value: object,
  what: string,
  maxBytes = MAX_OBJECT_BYTES,
): Record<string, unknown> | null {
  try {
    const object = JSON.parse(JSON.stringify(value, toJsonValue)) as Record<string, unknown>;
    const sizeBytes = Buffer.byteLength(JSON.stringify(object));
    if (sizeBytes <= maxBytes) return maskSecrets(object);
    warnOnce(
      `size of ${what}`,
      `${what} is ${sizeBytes} bytes of JSON, more than ${maxBytes}; it is left out`,
    );
  } catch (error) {
    warnOnce(`form of ${what}`, `${what} cannot be written as JSON (${textOf(error)}); it is left out`);
  }
  return null;
}

function toJsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'number') return toMetricValue(value);
  if (value instanceof Set || (ArrayBuffer.isView(value) && !(value instanceof DataView)))
    return Array.from(value as Iterable<unknown>);
  return typeof value === 'bigint' ? String(value) : value;
}

/** Without its secrets. It is masked before it is cut: half a secret has no form by which it is known. */
export function toText(text: unknown, maxCharacters: number): string {
  return shorten(maskText(shorten(toPlain(textOf(text)), MAX_MASKED_CHARACTERS)), maxCharacters);
}

/** A name as it is; null when it is empty. */
export function toName(text: string | undefined, maxCharacters = 200): string | null {
  return text === undefined ? null : shorten(toPlain(textOf(text)).trim(), maxCharacters) || null;
}

export function shorten(text: string, maxCharacters: number): string {
  const characters = text.length <= maxCharacters ? [] : [...text];
  return characters.length <= maxCharacters ? text : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

/** What the object holds now; nothing, with a warning, of one that throws when it is read. */
export function copyOf(object: object): Record<string, unknown> {
  try {
    return { ...object };
  } catch (error) {
    warnOnce('config', `the config is left out: reading it threw ${textOf(error)}`);
    return {};
  }
}

/** The text of anything, of what throws when it is asked for it too. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return `<${typeof value}>`;
  }
}

/** Text that every store takes: no NUL, no half of a surrogate pair. */
function toPlain(text: string): string {
  return Buffer.from(text.replaceAll('\0', '')).toString();
}
