import { LOG_STREAMS } from '@svc/contract/protocol';
import type { LogStream } from '../data/jobs.js';
import type { LogRow } from './log-rows.js';

/** Which rows are in a window of the scroll area, where everything is counted in text lines of equal height. */
export interface LogWindow {
  first: number;
  /** Exclusive. */
  end: number;
  /** Text lines above `first`. */
  above: number;
}

interface Block {
  /** Where each row begins, in text lines from the start of the block; one more for its end. */
  readonly starts: Uint32Array;
  /** All its rows were here when it was measured. */
  readonly isExact: boolean;
}

const BLOCK = 500;

/**
 * Where each row begins, in text lines. A wrapped row takes as many as its cells need: no measuring, no jumps. Rows that
 * are not here yet count as one line; once they were, their height is kept.
 */
export class LogLayout {
  maxCells = 0;
  #count = 0;
  #blocks: (Block | undefined)[] = [];
  /** Text lines above each block; made anew when a block has changed. */
  #tops: number[] | null = null;

  /** `columns` null: rows are not wrapped, and each is one line. */
  constructor(readonly columns: number | null) {}

  get count(): number {
    return this.#count;
  }

  set count(count: number) {
    if (count === this.#count) return;
    const last = Math.floor(Math.min(count, this.#count) / BLOCK);
    this.#blocks.length = Math.min(this.#blocks.length, last + 1);
    this.#blocks[last] = undefined;
    this.#count = count;
    this.#tops = null;
  }

  get lineTotal(): number {
    return this.startOf(this.#count);
  }

  startOf(position: number): number {
    if (this.columns === null) return Math.min(position, this.#count);
    const at = Math.max(0, Math.min(position, this.#count));
    const block = Math.floor(at / BLOCK);
    const within = at - block * BLOCK;
    return this.#topOf(block) + (this.#blocks[block]?.starts[within] ?? within);
  }

  linesOf(position: number): number {
    return this.startOf(position + 1) - this.startOf(position);
  }

  /** The rows that touch the text lines [from, to). */
  window(from: number, to: number): LogWindow {
    const first = this.positionAt(Math.max(0, from));
    const end = Math.min(this.#count, this.positionAt(Math.max(0, to)) + 1);
    return { first, end, above: this.startOf(first) };
  }

  /** The last row that starts at or before the text line. */
  positionAt(line: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.startOf(middle + 1) <= line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Brings the heights of the rows [first, end) up to date; returns whether any changed. */
  measure(first: number, end: number, rowAt: (position: number) => LogRow | undefined): boolean {
    for (let at = first; at < end; at += 1) this.maxCells = Math.max(this.maxCells, rowAt(at)?.cells ?? 0);
    if (this.columns === null) return false;
    let isChanged = false;
    for (let block = Math.floor(first / BLOCK); block * BLOCK < end; block += 1) {
      if (this.#measureBlock(block, rowAt)) isChanged = true;
    }
    if (isChanged) this.#tops = null;
    return isChanged;
  }

  /** The height of the row has changed. */
  forget(position: number): void {
    this.#blocks[Math.floor(position / BLOCK)] = undefined;
    this.#tops = null;
  }

  #measureBlock(block: number, rowAt: (position: number) => LogRow | undefined): boolean {
    const before = this.#blocks[block];
    if (before?.isExact) return false;
    const from = block * BLOCK;
    const size = Math.min(BLOCK, this.#count - from);
    const starts = new Uint32Array(size + 1);
    let isExact = true;
    for (let at = 0; at < size; at += 1) {
      const row = rowAt(from + at);
      if (!row) isExact = false;
      const known = before ? before.starts[at + 1]! - before.starts[at]! : 1;
      starts[at + 1] = starts[at]! + (row ? lineCount(row, this.columns) : known);
    }
    this.#blocks[block] = { starts, isExact };
    return (before?.starts[size] ?? size) !== starts[size] || !isEqual(before?.starts, starts);
  }

  #topOf(block: number): number {
    this.#tops ??= this.#sumUp();
    return this.#tops[block]!;
  }

  #sumUp(): number[] {
    const tops = [0];
    for (let block = 0; block * BLOCK < this.#count; block += 1) {
      const size = Math.min(BLOCK, this.#count - block * BLOCK);
      tops.push(tops[block]! + (this.#blocks[block]?.starts[size] ?? size));
    }
    return tops;
  }
}

function isEqual(a: Uint32Array | undefined, b: Uint32Array): boolean {
  return a !== undefined && a.length === b.length && a.every((value, at) => value === b[at]);
}

/** The button that shows the rest of a cut row has a line of its own. */
function lineCount(row: LogRow, columns: number | null): number {
  if (columns === null) return 1;
  return Math.max(1, Math.ceil(row.cells / columns)) + (row.isCut ? 1 : 0);
}

/** The lines that have no end yet, behind all others. */
export function shownPartials(partials: ReadonlyMap<string, LogRow>, wanted: LogStream | null): LogRow[] {
  return LOG_STREAMS.filter((stream) => wanted === null || stream === wanted).flatMap(
    (stream) => partials.get(stream) ?? [],
  );
}

export function layOutPartials(rows: readonly LogRow[], columns: number | null): LogLayout {
  const layout = new LogLayout(columns);
  layout.count = rows.length;
  layout.measure(0, rows.length, (at) => rows[at]);
  return layout;
}
