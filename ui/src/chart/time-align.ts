/** Columns of equal length, by time in milliseconds. */
export interface TimeSeries {
  readonly ts: readonly number[];
  readonly values: readonly number[];
}

/** A silence so many times as long as usual is a gap in the line. */
const GAP_FACTOR = 4;
const MIN_GAP_MS = 30_000;

/**
 * All series over one column of times. `undefined`: the series has no sample then, and its line goes on; `null`: nothing was measured for long, and
 * its line is broken.
 */
export function alignByTime(series: readonly TimeSeries[]): {
  ts: number[];
  columns: (number | null | undefined)[][];
} {
  const gaps = series.map(({ ts }) => gapStarts(ts));
  const ts = [...new Set([...series.flatMap((each) => [...each.ts]), ...gaps.flat()])].sort((a, b) => a - b);
  const rows = new Map(ts.map((at, row) => [at, row]));
  const columns = series.map((each, line) => {
    const column = new Array<number | null | undefined>(ts.length).fill(undefined);
    for (const at of gaps[line]!) column[rows.get(at)!] = null;
    each.ts.forEach((at, index) => (column[rows.get(at)!] = each.values[index]!));
    return column;
  });
  return { ts, columns };
}

/** Times just behind a sample after which nothing came for long. */
function gapStarts(ts: readonly number[]): number[] {
  const steps = ts.slice(1).map((at, index) => at - ts[index]!);
  const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  const gapMs = Math.max(MIN_GAP_MS, usual * GAP_FACTOR);
  return steps.flatMap((step, index) => (step > gapMs ? [ts[index]! + 1] : []));
}

/** The row whose time is nearest and that has a value; null: none. */
export function nearestSample(
  ts: readonly number[],
  column: readonly (number | null | undefined)[],
  at: number,
): number | null {
  let best: number | null = null;
  for (let row = 0; row < ts.length; row += 1) {
    if (typeof column[row] !== 'number') continue;
    if (best === null || Math.abs(ts[row]! - at) < Math.abs(ts[best]! - at)) best = row;
  }
  return best;
}
