const PLAIN = /^[\w@%+=:,./-]+$/;

/** An argument list as a line from which a POSIX shell makes the same list. */
export function toCommandLine(words: readonly string[]): string {
  return words.map((word, at) => (isPlain(word, at) ? word : quote(word))).join(' ');
}

/** A first word with `=` would set a variable. */
function isPlain(word: string, at: number): boolean {
  return PLAIN.test(word) && !(at === 0 && word.includes('='));
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** What a line says when nothing in it is expanded: its words, or why it cannot be read. */
export type ParsedLine = { readonly words: string[] } | { readonly flaw: string };

/** Splits a line as a POSIX shell does, by blanks, quotes and backslashes. Nothing is expanded, and no character is an operator. */
export function parseCommandLine(line: string): ParsedLine {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at]!;
    if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (character === "'" || character === '"') {
      const part = character === "'" ? readSingle(line, at) : readDouble(line, at);
      if (part === null) return { flaw: `a quotation mark ${character} is not closed` };
      word = (word ?? '') + part.text;
      at = part.end;
    } else if (character === '\\') {
      at += 1;
      if (at >= line.length) return { flaw: 'it ends with a backslash' };
      // At the end of a line: the line goes on in the next one.
      if (line[at] !== '\n') word = (word ?? '') + line[at]!;
    } else word = (word ?? '') + character;
  }
  if (word !== null) words.push(word);
  return { words };
}

interface Quoted {
  readonly text: string;
  /** Where its closing mark stands. */
  readonly end: number;
}

function readSingle(line: string, start: number): Quoted | null {
  const end = line.indexOf("'", start + 1);
  return end < 0 ? null : { text: line.slice(start + 1, end), end };
}

/** A backslash takes the meaning of the characters that have one there, and stays before any other. */
function readDouble(line: string, start: number): Quoted | null {
  let text = '';
  for (let at = start + 1; at < line.length; at += 1) {
    const character = line[at]!;
    if (character === '"') return { text, end: at };
    const next = line[at + 1];
    if (character !== '\\' || next === undefined || !'$`"\\\n'.includes(next)) text += character;
    else {
      if (next !== '\n') text += next;
      at += 1;
    }
  }
  return null;
}
