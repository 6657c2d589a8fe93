/** A browser draws no element of more than some 16 million pixels: of a longer log this many lines can be scrolled at once. */
export const MAX_LINES_SHOWN = 700_000;

/** Which lines are shown, in order: a position for each. A log that is too long to scroll is shown from `base` on. */
export class LogSpace {
  /** `seqs` null: all lines. */
  constructor(
    readonly seqs: readonly number[] | null,
    private readonly total: number,
    readonly base: number,
  ) {}

  /** All lines, also those that cannot be scrolled to. */
  get length(): number {
    return this.seqs?.length ?? this.total;
  }

  get count(): number {
    return Math.min(MAX_LINES_SHOWN, this.length - this.base);
  }

  seqAt(position: number): number {
    const at = this.base + position;
    return this.seqs ? this.seqs[at]! : at;
  }

  /** Of the line, or of the next one that is shown; below 0 or beyond `count` when it is not within reach of the scroll bar. */
  positionOf(seq: number): number {
    return (this.seqs ? firstAtOrAfter(this.seqs, seq) : Math.min(seq, this.total)) - this.base;
  }
}

/** Where the lines begin when that one, counted from the first of all, is to be within reach. */
export function baseAround(index: number, length: number): number {
  return Math.max(0, Math.min(index - MAX_LINES_SHOWN / 2, length - MAX_LINES_SHOWN));
}

/** `sorted` ascending; its length when all are smaller. */
export function firstAtOrAfter(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
