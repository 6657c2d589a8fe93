import { SCOPES } from './enums.js';

/** Base 62. */
export const SECRET_CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 > 2^256. */
export const SECRET_LENGTH = 43;

const TOKEN = `svc_(?:${SCOPES.join('|')})_[${SECRET_CHARACTERS}]{${SECRET_LENGTH}}`;
const WHOLE = new RegExp(`^${TOKEN}$`);
const WITHIN = new RegExp(`\\b${TOKEN}\\b`);

/** Whether the text has the form of a token and nothing else. */
export function isTokenText(text: string): boolean {
  return WHOLE.test(text);
}

/** Whether a token stands in the text as a word of its own. */
export function containsToken(text: string): boolean {
  return WITHIN.test(text);
}
