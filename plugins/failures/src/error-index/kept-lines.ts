import type { LogLine } from '@svc/contract';
import { ErrorLines } from './error-line.js';

const FIRST_ERRORS = 50;
const LAST_ERRORS = 150;
const TAIL = 50;
const MAX_CHARACTERS = 1000;

/** What is stored of a log. `to_seq`: of the first line that has not been read. */
export interface KeptLinesRecord {
  readonly to_seq: number;
  readonly first: readonly LogLine[];
  readonly last: readonly LogLine[];
  readonly tail: readonly LogLine[];
}

export const NO_LINES: KeptLinesRecord = { to_seq: 0, first: [], last: [], tail: [] };

/** The lines of one log that explain its end, in bounded room. */
export class KeptLines {
  #toSeq: number;
  #first: LogLine[];
  #last: LogLine[];
  #tail: LogLine[];
  readonly #errors = new ErrorLines();

  constructor({ to_seq, first, last, tail }: KeptLinesRecord) {
    [this.#toSeq, this.#first, this.#last, this.#tail] = [to_seq, [...first], [...last], [...tail]];
  }

  get toSeq(): number {
    return this.#toSeq;
  }

  get record(): KeptLinesRecord {
    return { to_seq: this.#toSeq, first: [...this.#first], last: [...this.#last], tail: [...this.#tail] };
  }

  /** Error lines and the tail, each line once, oldest first. */
  get lines(): readonly LogLine[] {
    const bySeq = new Map([...this.#first, ...this.#last, ...this.#tail].map((line) => [line.seq, line]));
    return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
  }

  get errors(): readonly LogLine[] {
    return [...this.#first, ...this.#last];
  }

  /** `lines` are in order, and the first is not behind `toSeq`. Lines that were rolled back come again, and replace what was kept of them. */
  add(lines: readonly LogLine[]): void {
    const [next] = lines;
    if (next === undefined) return;
    if (next.seq < this.#toSeq) this.#truncate(next.seq);
    for (const line of lines) if (this.#errors.has(line)) this.#keep(cut(line));
    this.#tail = [...this.#tail, ...lines.slice(-TAIL).map(cut)].slice(-TAIL);
    this.#toSeq = (lines.at(-1) as LogLine).seq + 1;
  }

  #keep(line: LogLine): void {
    if (this.#first.length < FIRST_ERRORS) return void this.#first.push(line);
    this.#last.push(line);
    if (this.#last.length > 2 * LAST_ERRORS) this.#last = this.#last.slice(-LAST_ERRORS);
  }

  #truncate(toSeq: number): void {
    const before = ({ seq }: LogLine) => seq < toSeq;
    this.#first = this.#first.filter(before);
    this.#last = this.#last.filter(before);
    this.#tail = this.#tail.filter(before);
  }
}

function cut(line: LogLine): LogLine {
  return line.text.length <= MAX_CHARACTERS ? line : { ...line, text: copyOfStart(line.text) };
}

/** A slice of a string keeps the whole string in memory; this does not. */
function copyOfStart(text: string): string {
  return Buffer.from(text.slice(0, MAX_CHARACTERS), 'utf16le').toString('utf16le');
}
