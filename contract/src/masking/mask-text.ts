import { maskAssignments } from './mask-assignments.js';
import { MASK, isPlaceholder, secrecyOf } from './secret-key.js';

/**
 * The text with `***` for what looks like a secret: keys of known forms, passwords in addresses, what follows a flag, a header or
 * a variable whose name tells of one. What only names a variable is left, so that code stays code.
 *
 * Takes time linear in the length: every repetition is bounded, or cannot begin again within what it has passed.
 */
export function maskText(text: string): string {
  return RULES.reduce((masked, rule) => rule(masked), text);
}

const FORMATS = new RegExp(
  `(?<![A-Za-z0-9_-])(?:${[
    'svc_(?:read|write|sdk|agent)_[A-Za-z0-9]{20,}',
    'hf_[A-Za-z0-9]{16,}',
    'sk-(?!learn)[A-Za-z0-9_-]{16,}',
    '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])',
    'gh[pousr]_[A-Za-z0-9]{20,}',
    'github_pat_[A-Za-z0-9_]{20,}',
    'glpat-[A-Za-z0-9_-]{16,}',
    'xox[abeoprs]-[A-Za-z0-9-]{10,}',
    'AIza[A-Za-z0-9_-]{30,}',
    'ya29\\.[A-Za-z0-9_-]{20,}',
    'nvapi-[A-Za-z0-9_-]{20,}',
    'npm_[A-Za-z0-9]{30,}',
    'pypi-[A-Za-z0-9_-]{40,}',
    'eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}',
  ].join('|')})`,
  'g',
);
const PRIVATE_KEY = /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)(?:[^-]|-(?!----)){1,16384}/g;
const USER_AND_PASSWORD = /(:\/\/[^\s/:@"'<>]{0,256}:)([^\s/"'<>]{1,256})(?=@)/g;
const LONG_USER = /(:\/\/)([A-Za-z0-9_-]{16,256})(?=@)/g;
const HEADER =
  /(authorization["'\\]{0,4}[ \t]{0,3}[:=][ \t]{0,3}["'\\]{0,4}(?:[A-Za-z]{1,20}[ \t]{1,3})?)(?![A-Za-z]{0,2}["'])([^\s"',\\]{1,4096})/gi;
const BEARER = /(\bbearer[ \t]{1,4})([A-Za-z0-9._~+/=-]{8,})/gi;
const FLAG =
  /(?<![\w-])(--?([A-Za-z][\w.-]{0,80})[ \t]{1,4}["']?)((?<=")[^"\n]{1,4096}|(?<=')[^'\n]{1,4096}|[^\s"'=:-][^\s"']{0,4096})/g;

const RULES: readonly ((text: string) => string)[] = [
  (text) => text.replace(FORMATS, MASK),
  (text) => text.replace(PRIVATE_KEY, `$1${MASK}`),
  ...[USER_AND_PASSWORD, LONG_USER, HEADER, BEARER].map(
    (pattern) => (text: string) => text.replace(pattern, maskSecond),
  ),
  (text) => text.replace(FLAG, maskFlag),
  maskAssignments,
];

function maskSecond(whole: string, head: string, secret: string): string {
  return isPlaceholder(secret) ? whole : `${head}${MASK}`;
}

function maskFlag(whole: string, head: string, name: string, value: string): string {
  return secrecyOf(name) === null || isPlaceholder(value) ? whole : `${head}${MASK}`;
}
