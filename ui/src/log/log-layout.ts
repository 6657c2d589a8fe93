import { LOG_STREAMS } from '@svc/contract/protocol';
import type { LogRow } from './log-buffer.js';

/** Which rows are in a window of the scroll area, where everything is counted in text lines of equal height. */
export interface LogWindow {
  first: number;
  /** Exclusive. */
  end: number;
  /** Text lines above `first`. */
  above: number;
}

/** Where each row begins, in text lines. A wrapped row takes as many as its cells need: no measuring, no jumps. */
export class LogLayout {
  readonly #starts: Uint32Array;
  readonly maxCells: number;

  /** `columns` null: rows are not wrapped. */
  constructor(
    readonly rows: readonly LogRow[],
    readonly columns: number | null,
  ) {
    this.#starts = new Uint32Array(rows.length + 1);
    let maxCells = 0;
    for (let at = 0; at < rows.length; at += 1) {
      this.#starts[at + 1] = this.#starts[at]! + lineCount(rows[at]!, columns);
      maxCells = Math.max(maxCells, rows[at]!.cells);
    }
    this.maxCells = maxCells;
  }

  get lineTotal(): number {
    return this.#starts[this.rows.length]!;
  }

  startOf(at: number): number {
    return this.#starts[Math.min(at, this.rows.length)]!;
  }

  linesOf(at: number): number {
    return this.#starts[at + 1]! - this.#starts[at]!;
  }

  /** The rows that touch the text lines [from, to). */
  window(from: number, to: number): LogWindow {
    const first = this.#rowAt(Math.max(0, from));
    const end = Math.min(this.rows.length, this.#rowAt(Math.max(0, to)) + 1);
    return { first, end, above: this.startOf(first) };
  }

  /** The last row that starts at or before the text line. */
  #rowAt(line: number): number {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle + 1]! <= line) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function lineCount(row: LogRow, columns: number | null): number {
  if (columns === null || row.cells <= columns) return 1;
  return Math.ceil(row.cells / columns);
}

/** The lines that have no end yet, behind all others. */
export function layOutPartials(
  partials: ReadonlyMap<string, LogRow>,
  filter: string,
  columns: number | null,
): LogLayout {
  const shown = LOG_STREAMS.filter((stream) => filter === 'all' || stream === filter);
  return new LogLayout(
    shown.flatMap((stream) => partials.get(stream) ?? []),
    columns,
  );
}
