/** A line as it is drawn: columns of equal length, by x ascending; x may repeat, values may be NaN or infinite. */
export interface PlotColumns {
  readonly xs: readonly number[];
  readonly values: readonly number[];
}

/**
 * Several lines on one x axis, as uPlot takes them. A cell is a number to draw, null where a value cannot be drawn
 * (the line breaks there), undefined where the line has no point at that x (the line goes on).
 */
export interface AlignedSeries {
  xs: number[];
  drawn: (number | null | undefined)[][];
  /** What was measured, NaN and infinities included. */
  measured: (number | undefined)[][];
}

/** Merges by x. An x that a line holds twice gets two rows: no point is hidden behind another. */
export function alignSeries(lines: readonly PlotColumns[], isLog = false): AlignedSeries {
  const drawn: AlignedSeries['drawn'] = lines.map(() => []);
  const measured: AlignedSeries['measured'] = lines.map(() => []);
  const next = lines.map(() => 0);
  const xs: number[] = [];
  for (;;) {
    const x = smallest(lines, next);
    if (x === null) return { xs, drawn, measured };
    xs.push(x);
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at]!;
      const value = line.xs[next[at]!] === x ? line.values[next[at]!++] : undefined;
      measured[at]!.push(value);
      drawn[at]!.push(value === undefined ? undefined : isDrawable(value, isLog) ? value : null);
    }
  }
}

/** The last row of each stretch of a line that lies at one x: there is nothing to draw a line to, so without a dot it would not be seen. */
export function isolatedRows({ xs, drawn }: AlignedSeries, line: number): number[] {
  const found: number[] = [];
  let first: number | null = null;
  let last = 0;
  const endStretch = () => {
    if (first !== null && xs[first] === xs[last]) found.push(last);
    first = null;
  };
  drawn[line]?.forEach((value, row) => {
    if (value === undefined) return;
    if (value === null) return endStretch();
    first ??= row;
    last = row;
  });
  endStretch();
  return found;
}

/** The columns by x ascending; points of one x stay in their order. */
export function sortByX({ xs, values }: PlotColumns): PlotColumns {
  if (xs.every((x, at) => at === 0 || x >= xs[at - 1]!)) return { xs, values };
  const places = xs.map((_, at) => at).sort((a, b) => xs[a]! - xs[b]!);
  return { xs: places.map((at) => xs[at]!), values: places.map((at) => values[at]!) };
}

/** Can the value stand on the axis? On a log axis only what is above zero can. */
export function isDrawable(value: number, isLog: boolean): boolean {
  return Number.isFinite(value) && (!isLog || value > 0);
}

export interface UndrawableCounts {
  nan: number;
  infinite: number;
  /** Finite values that a log axis has no place for. */
  notPositive: number;
}

export function countUndrawable(values: readonly number[], isLog: boolean): UndrawableCounts {
  const counts = { nan: 0, infinite: 0, notPositive: 0 };
  for (const value of values) {
    if (Number.isNaN(value)) counts.nan += 1;
    else if (!Number.isFinite(value)) counts.infinite += 1;
    else if (isLog && value <= 0) counts.notPositive += 1;
  }
  return counts;
}

/** `3 NaN, 1 ∞`: what the legend says of values that are not on the line; empty when all are. */
export function describeUndrawable(counts: UndrawableCounts): string {
  const parts: string[] = [];
  if (counts.nan > 0) parts.push(`${counts.nan} NaN`);
  if (counts.infinite > 0) parts.push(`${counts.infinite} ∞`);
  if (counts.notPositive > 0) parts.push(`${counts.notPositive} ≤ 0`);
  return parts.join(', ');
}

/** The row nearest to `row` where the series has a point, or null. */
export function nearestRow(column: readonly (number | undefined)[], row: number): number | null {
  for (let away = 0; away < column.length; away += 1) {
    if (column[row - away] !== undefined) return row - away;
    if (column[row + away] !== undefined) return row + away;
    if (row - away < 0 && row + away >= column.length) return null;
  }
  return null;
}

export interface Envelope {
  readonly rows: number[];
  readonly low: number[];
  readonly high: number[];
}

/** Between which values a thinned line moves: at each of its points, those of its neighbours. A gap breaks it. */
export function envelopesOf(column: readonly (number | null | undefined)[]): Envelope[] {
  const envelopes: Envelope[] = [];
  let rows: number[] = [];
  const close = (): void => {
    if (rows.length > 2) envelopes.push(toEnvelope(column as readonly number[], rows));
    rows = [];
  };
  column.forEach((value, row) => {
    if (value === null) close();
    else if (value !== undefined) rows.push(row);
  });
  close();
  return envelopes;
}

function toEnvelope(column: readonly number[], rows: number[]): Envelope {
  const around = (at: number): number[] =>
    [rows[at - 1], rows[at], rows[at + 1]].flatMap((row) => (row === undefined ? [] : [column[row]!]));
  return {
    rows,
    low: rows.map((_, at) => Math.min(...around(at))),
    high: rows.map((_, at) => Math.max(...around(at))),
  };
}

function smallest(lines: readonly PlotColumns[], next: readonly number[]): number | null {
  let found: number | null = null;
  for (let at = 0; at < lines.length; at += 1) {
    const candidate = lines[at]!.xs[next[at]!];
    if (candidate !== undefined && (found === null || candidate < found)) found = candidate;
  }
  return found;
}
