export const MASK = '***';

/** What a name tells of its value: `secret` whatever that is; `token` when it is text, for the vocabulary of a model has tokens too. */
export type Secrecy = 'secret' | 'token' | null;

const HINT = /token|secret|pass|pwd|key|cred|auth|cookie|bearer/i;
const SECRET_WORD = /secret|passw(or)?d|passphrase|credential|^(api|private|access)keys?$/;
const SECRET_LAST_WORD = /^(authorization|cookies?|bearer)$/;
const KEY_OF =
  /^(api|access|private|secret|signing|encryption|master|auth|account|storage|ssh|service|deploy|license|subscription|wandb|openai|anthropic|aws|azure|gcp|hf)$/;
const TOKENS_OF = /^(access|api|auth|refresh|bearer|session)$/;
const PASS_OF = /^(db|database|user|root|admin|smtp|mail|ftp|http|proxy|redis|mysql|pg|postgres)$/;
const MAX_NAME_CHARACTERS = 200;

/** Of the name of a field, a flag or a variable. */
export function secrecyOf(name: string): Secrecy {
  if (!HINT.test(name)) return null;
  const words = toWords(name);
  const [before = '', last = ''] = ['', ...words].slice(-2);
  if (words.some((word) => SECRET_WORD.test(word)) || SECRET_LAST_WORD.test(last)) return 'secret';
  if (/^keys?$/.test(last) && KEY_OF.test(before)) return 'secret';
  const isTold =
    last.endsWith('token') ||
    last === 'auth' ||
    (last === 'tokens' && TOKENS_OF.test(before)) ||
    (last === 'pwd' && before !== '' && before !== 'old') ||
    (last === 'pass' && PASS_OF.test(before)) ||
    (words.includes('token') && isShellName(name));
  return isTold ? 'token' : null;
}

/** The way that names of environment variables are written. */
export function isShellName(name: string): boolean {
  return name === name.toUpperCase();
}

/** The words of `hfToken_2`: hf, token. */
export function toWords(name: string): string[] {
  const spaced = name.slice(-MAX_NAME_CHARACTERS).replace(/([a-z0-9])([A-Z])/g, '$1 $2');
  const words = spaced
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  while (words.length > 1 && /^\d+$/.test(words.at(-1)!)) words.pop();
  return words;
}

/** What stands for a value: `$TOKEN`, `{token}`, `<token>`, `[MASK]`, and what has been masked before. */
export function isPlaceholder(value: string): boolean {
  return /^(?:[A-Za-z]{1,20} )?(?:[$<{%([]|\*{3})/.test(value);
}
