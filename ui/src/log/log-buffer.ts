import type { LogLine, PartialLine } from '@svc/contract';
import { hasAnsi, stripAnsi } from './ansi.js';

export interface LogRow {
  /** Counts all rows ever held, so that it stays the same while older rows go. */
  index: number;
  /** Lines missing between this row and the one before: a row of its own, without text. */
  gap: number;
  seq: number;
  ts: number;
  isError: boolean;
  /** What is read, searched and copied: no escape sequences. */
  text: string;
  /** With its colours; null when it has none. */
  colored: string | null;
  /** Width in character cells. */
  cells: number;
}

export interface LogLimits {
  lines: number;
  chars: number;
}

const DEFAULT_LIMITS: LogLimits = { lines: 20_000, chars: 8_000_000 };

/** The newest lines of one attempt's log, bounded in lines and characters. What is missing in between is a gap row. */
export class LogBuffer {
  readonly rows: LogRow[] = [];
  lastSeq: number | null = null;
  #chars = 0;
  #nextIndex = 0;

  readonly #limits: LogLimits;

  constructor(limits: LogLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /** Appends what is new, by seq; returns how many rows were given up at the front. */
  append(lines: readonly LogLine[]): number {
    for (const line of lines) {
      if (this.lastSeq !== null && line.seq <= this.lastSeq) continue;
      const missing = this.lastSeq === null ? 0 : line.seq - this.lastSeq - 1;
      if (missing > 0) this.#push(toGap(this.#nextIndex, missing, line));
      this.#push(toRow(this.#nextIndex, line));
      this.lastSeq = line.seq;
    }
    return this.#trim();
  }

  #push(row: LogRow): void {
    this.rows.push(row);
    this.#chars += row.text.length;
    this.#nextIndex += 1;
  }

  /** Goes a tenth below the limit, so that a fast log is not trimmed with every frame. */
  #trim(): number {
    const { rows } = this;
    const limits = this.#limits;
    if (rows.length <= limits.lines && this.#chars <= limits.chars) return 0;
    let count = 0;
    while (rows.length - count > limits.lines * 0.9 || this.#chars > limits.chars * 0.9) {
      this.#chars -= rows[count]!.text.length;
      count += 1;
    }
    rows.splice(0, count);
    return count;
  }
}

function toRow(index: number, line: LogLine): LogRow {
  const text = stripAnsi(line.text);
  return {
    index,
    gap: 0,
    seq: line.seq,
    ts: line.ts,
    isError: line.stream === 'stderr',
    text,
    colored: hasAnsi(line.text) ? line.text : null,
    cells: countCells(text),
  };
}

/** Of no buffer: it stands behind all rows, and is neither searched nor counted. */
const PARTIAL_INDEX = -2;

export function toPartialRow(partial: PartialLine, ts: number): LogRow {
  return toRow(PARTIAL_INDEX, { ...partial, seq: 0, ts });
}

function toGap(index: number, gap: number, next: LogLine): LogRow {
  return { index, gap, seq: next.seq, ts: next.ts, isError: false, text: '', colored: null, cells: 0 };
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
