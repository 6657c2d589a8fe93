import { maskSecrets, maskText } from '@svc/contract';
import { toPrintable } from './clip.js';

/** No answer shows more of one text, or more entries of one list; what lies behind need not be read. */
const MOST_CHARACTERS = 4_096;
const MOST_ENTRIES = 200;
/** Ids of svc, and what is too short for a key and has no sign. */
const NO_SECRET = /^(?:(?:job|run|ckpt|node|evt|eval|exp|prj)_[0-9A-Z]{26}|\w{0,15})$/;

/** The value without what no reader sees, and with `***` for what looks like a secret, as in events and pushes. Must come before texts are cut: a part of a key does not look like one. */
export function toShowable(value: unknown): unknown {
  if (typeof value === 'string') return toShowableText(value);
  if (Array.isArray(value)) {
    const shown = value.slice(0, MOST_ENTRIES).map(toShowable);
    // In a command the secret may be the argument behind its flag.
    const isCommand = shown.every((entry) => typeof entry === 'string');
    const masked = isCommand ? (maskSecrets({ shown })['shown'] as unknown[]) : shown;
    return [...masked, ...value.slice(MOST_ENTRIES)];
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, toShowable(entry)]));
}

export function toShowableText(text: string): string {
  return NO_SECRET.test(text) ? text : maskText(toPrintable(text.slice(0, MOST_CHARACTERS)));
}
