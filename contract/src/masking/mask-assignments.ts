import { MASK, isPlaceholder, isShellName, secrecyOf, toWords, type Secrecy } from './secret-key.js';

/** A name and the sign behind it: in shell, JSON (also within a string), YAML, Python, TypeScript, a query. */
const NAME_AND_SIGN =
  /(?<![\w.])(?<!\w-)([A-Za-z_][\w.-]{0,80})\\{0,3}["']?([ \t]{0,3}(?:=>|:=|=(?!=)|:)[ \t]{0,3})/g;
/** `str | None = `, as it stands between `token: ` and the value. */
const TYPE = /(?=([A-Za-z_][\w.[\]| ]{0,40}))\1=[ \t]{0,3}/y;
const QUOTED = /([A-Za-z]{0,2}(\\{0,3}["']))((?:(?!\2)(?:\\.|[^\n])){1,8192})/y;
const PLAIN = /[^\s"'`,;&)}\]\\]{1,4096}/y;

const CALL_OR_PATH = /^[A-Za-z_]\w*(?:\.\w+)*[[(]|^[A-Za-z_]\w*(?:\.[A-Za-z_]+)+$/;
/** With the schemes of an Authorization header, whose value follows. */
const NO_VALUE = /^(?:none|null|nil|true|false|undefined|bearer|basic|digest|token)$/i;
const WORD = /^[A-Za-z_]+$/;
const TYPE_NAME = /^(?:[A-Z]\w*|str|string|bytes|int|number|bool|boolean|any|object|unknown)$/;
const SMALL_NUMBER = /^\d{1,5}$/;

interface Assignment {
  readonly name: string;
  readonly secrecy: Secrecy;
  readonly sign: string;
  /** `KEY=value` and `--key=value`: no code. */
  readonly isShell: boolean;
}

/** The text with `***` for the value of each name that tells of a secret. */
export function maskAssignments(text: string): string {
  const parts: string[] = [];
  let doneTo = 0;
  for (const { 0: whole, 1: name = '', 2: sign = '', index } of text.matchAll(NAME_AND_SIGN)) {
    const secrecy = index < doneTo ? null : secrecyOf(name);
    if (secrecy === null) continue;
    const isShell = sign === '=' && (isShellName(name) || text[index - 1] === '-');
    const found = findSecret(text, index + whole.length, { name, secrecy, sign, isShell });
    if (!found) continue;
    parts.push(text.slice(doneTo, found.from), MASK);
    doneTo = found.to;
  }
  return parts.join('') + text.slice(doneTo);
}

/** Where the value that begins at `at` lies, unless it is no secret. */
function findSecret(text: string, at: number, assignment: Assignment): { from: number; to: number } | null {
  const type = assignment.sign.includes(':') ? matchAt(TYPE, text, at) : null;
  const start = at + (type?.[0].length ?? 0);
  const [, opening = '', , quoted] = matchAt(QUOTED, text, start) ?? [];
  const [value = ''] = quoted === undefined ? (matchAt(PLAIN, text, start) ?? []) : [quoted];
  const from = start + opening.length;
  const isLeft = value === '' || isPlaceholder(value) || (quoted === undefined && isCode(value, assignment));
  return isLeft ? null : { from, to: from + value.length };
}

/** Whether an unquoted value is a variable, a type, a call or a number of tokens. */
function isCode(value: string, { name, secrecy, sign, isShell }: Assignment): boolean {
  if (NO_VALUE.test(value) || (secrecy === 'token' && SMALL_NUMBER.test(value))) return true;
  if (isShell) return false;
  if (sign !== '=' && WORD.test(value) && (secrecy === 'token' || TYPE_NAME.test(value))) return true;
  return CALL_OR_PATH.test(value) || toWords(value).at(-1) === toWords(name).at(-1);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
