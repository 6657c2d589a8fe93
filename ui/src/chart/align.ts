import type { PointColumns } from './series-store.js';

/**
 * Several series on one x axis, as uPlot takes them. A cell is a number to draw, null where a value cannot be drawn
 * (the line breaks there), undefined where the series has no point at that step (the line goes on).
 */
export interface AlignedSeries {
  steps: number[];
  drawn: (number | null | undefined)[][];
  /** What was measured, NaN and infinities included. */
  measured: (number | undefined)[][];
}

/** Merges by step. A step that a series holds twice gets two rows: no point is hidden behind another. */
export function alignSeries(
  series: readonly Pick<PointColumns, 'steps' | 'values'>[],
  isLog = false,
): AlignedSeries {
  const steps: number[] = [];
  const drawn: AlignedSeries['drawn'] = series.map(() => []);
  const measured: AlignedSeries['measured'] = series.map(() => []);
  const next = series.map(() => 0);
  for (;;) {
    const step = smallest(series, next);
    if (step === null) return { steps, drawn, measured };
    steps.push(step);
    series.forEach((one, at) => {
      const value = one.steps[next[at]!] === step ? one.values[next[at]!++] : undefined;
      measured[at]!.push(value);
      drawn[at]!.push(value === undefined ? undefined : isDrawable(value, isLog) ? value : null);
    });
  }
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

function smallest(series: readonly Pick<PointColumns, 'steps'>[], next: readonly number[]): number | null {
  let step: number | null = null;
  series.forEach((one, at) => {
    const candidate = one.steps[next[at]!];
    if (candidate !== undefined && (step === null || candidate < step)) step = candidate;
  });
  return step;
}
