import type { LogLine, PartialLine } from '@svc/contract';
import { hasAnsi, stripAnsi } from '../ansi.js';

export interface LogRow {
  readonly seq: number;
  readonly ts: number;
  readonly isError: boolean;
  /** The server does not have the line either. */
  readonly isMissing: boolean;
  /** What is read, searched and copied: no escape sequences. */
  readonly text: string;
  /** With its colours; null when it has none. */
  readonly colored: string | null;
  /** Only its beginning is shown, until the reader asks for all. */
  isCut: boolean;
  /** Width of what is shown, in character cells. */
  cells: number;
}

export interface LogLimits {
  readonly lines: number;
  readonly chars: number;
}

const DEFAULT_LIMITS: LogLimits = { lines: 30_000, chars: 8_000_000 };
const CHUNK = 500;
/** Of a longer line so many characters are shown at first. */
export const CUT_CHARS = 4000;

/**
 * The lines of one attempt's log that are in memory: those that came last, and those that were looked at last. What is
 * beyond the limits is given up, and read again when it is looked at.
 */
export class LogRows {
  /** How many lines the log has, as far as is known. */
  total = 0;
  /** Least recently used first. */
  readonly #chunks = new Map<number, Map<number, LogRow>>();
  #count = 0;
  #chars = 0;

  constructor(private readonly limits = DEFAULT_LIMITS) {}

  /** Whether no line has to be read. */
  get hasAll(): boolean {
    return this.#count === this.total;
  }

  get count(): number {
    return this.#count;
  }

  /** Of the highest line number. */
  get digits(): number {
    return String(Math.max(1, this.total)).length;
  }

  get(seq: number): LogRow | undefined {
    return this.#chunks.get(Math.floor(seq / CHUNK))?.get(seq);
  }

  /** Takes over the lines that are not here yet; returns those. */
  add(lines: readonly LogLine[]): LogRow[] {
    const added = lines.filter(({ seq }) => this.get(seq) === undefined).map(toRow);
    for (const row of added) this.#put(row);
    this.#trim();
    return added;
  }

  /** The server has been asked for the lines [from, to): those that did not come are nowhere. */
  settle(from: number, to: number): void {
    for (let seq = from; seq < Math.min(to, this.total); seq += 1)
      if (this.get(seq) === undefined) this.#put(toMissing(seq));
  }

  /** The lines [from, to) are looked at: they go last. */
  touch(from: number, to: number): void {
    for (let key = Math.floor(from / CHUNK); key * CHUNK < to; key += 1) this.#use(key);
  }

  /** All that are here, in order. */
  *all(): Generator<LogRow> {
    for (const key of [...this.#chunks.keys()].sort((a, b) => a - b)) {
      const chunk = this.#chunks.get(key) ?? new Map<number, LogRow>();
      for (const seq of [...chunk.keys()].sort((a, b) => a - b)) yield chunk.get(seq)!;
    }
  }

  #put(row: LogRow): void {
    const key = Math.floor(row.seq / CHUNK);
    const chunk = this.#use(key) ?? new Map<number, LogRow>();
    this.#chunks.set(key, chunk);
    chunk.set(row.seq, row);
    this.#count += 1;
    this.#chars += row.text.length;
    this.total = Math.max(this.total, row.seq + 1);
  }

  #use(key: number): Map<number, LogRow> | undefined {
    const chunk = this.#chunks.get(key);
    if (!chunk) return undefined;
    this.#chunks.delete(key);
    this.#chunks.set(key, chunk);
    return chunk;
  }

  #trim(): void {
    const { lines, chars } = this.limits;
    for (const [key, chunk] of this.#chunks) {
      const isWithin = this.#count <= lines && this.#chars <= chars;
      if (isWithin || this.#chunks.size <= 2) return;
      this.#chunks.delete(key);
      this.#count -= chunk.size;
      for (const row of chunk.values()) this.#chars -= row.text.length;
    }
  }
}

export function toRow(line: LogLine): LogRow {
  const text = stripAnsi(line.text);
  const isCut = text.length > CUT_CHARS;
  return {
    seq: line.seq,
    ts: line.ts,
    isError: line.stream === 'stderr',
    isMissing: false,
    text,
    colored: hasAnsi(line.text) ? line.text : null,
    isCut,
    cells: countCells(isCut ? text.slice(0, CUT_CHARS) : text),
  };
}

export function showAll(row: LogRow): void {
  row.isCut = false;
  row.cells = countCells(row.text);
}

/** Of no log: it stands behind all rows, and is neither searched nor counted. */
const PARTIAL_SEQ = -2;

export function toPartialRow(partial: PartialLine, ts: number): LogRow {
  return toRow({ ...partial, seq: PARTIAL_SEQ, ts });
}

function toMissing(seq: number): LogRow {
  return { seq, ts: 0, isError: false, isMissing: true, text: '', colored: null, isCut: false, cells: 0 };
}

const ASCII = /^[\u0000-\u007f]*$/;

/** Character cells in a monospace font; never too few, so that a wrapped line is never cut. */
export function countCells(text: string): number {
  if (ASCII.test(text)) return text.length;
  let cells = 0;
  for (const char of text) cells += isNarrow(char.codePointAt(0)!) ? 1 : 2;
  return cells;
}

/** Latin, Greek, Cyrillic, punctuation, box drawing and blocks: the ranges that monospace fonts carry. */
function isNarrow(code: number): boolean {
  return code < 0x530 || (code >= 0x2000 && code < 0x2070) || (code >= 0x2500 && code < 0x25a0);
}
