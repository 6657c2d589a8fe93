/** Consecutive sequence numbers, both ends inclusive. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** The ranges that hold exactly these numbers, ascending, with a gap between any two. */
export function toRanges(seqs: Iterable<number>): SeqRange[] {
  const ranges: SeqRange[] = [];
  let open: { from: number; to: number } | null = null;
  for (const seq of seqs) {
    if (open && seq === open.to + 1) open.to = seq;
    else ranges.push((open = { from: seq, to: seq }));
  }
  return joinRanges(ranges);
}

export function countOf(ranges: readonly SeqRange[]): number {
  return ranges.reduce((count, { from, to }) => count + (to - from + 1), 0);
}

/** The union of ranges in any order, ascending: ranges that touch or overlap become one. */
export function joinRanges(ranges: readonly SeqRange[]): SeqRange[] {
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/** `ranges` ascending and disjoint. */
export function isIn(ranges: readonly SeqRange[], seq: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as SeqRange).from <= seq) low = middle + 1;
    else high = middle;
  }
  const candidate = ranges[low - 1];
  return candidate !== undefined && seq <= candidate.to;
}
