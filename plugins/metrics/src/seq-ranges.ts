/** A run of consecutive sequence numbers, both ends inclusive. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** The ranges that hold exactly these numbers, ascending, with a gap between any two. */
export function toRanges(seqs: readonly number[]): SeqRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const seq of seqs.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && seq <= last.to + 1) last.to = seq;
    else ranges.push({ from: seq, to: seq });
  }
  return ranges;
}

/** Ascending ranges as one set: what touches or overlaps becomes one range. */
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
