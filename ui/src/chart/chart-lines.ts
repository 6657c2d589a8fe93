import { formatValue } from '../format.js';
import { sortByX } from './align.js';
import type { XKind } from './axis.js';
import { assignColors, labelOf } from './groups.js';
import type { PlotMark } from './markers.js';
import type { PlotLine } from './plot.js';
import { lowerBound, type MetricSeries } from './series-store.js';

/** A line of a chart. All but the first two have a default. */
export interface ChartLine {
  /** Whole; also what it is called in a file. */
  readonly name: string;
  readonly series: MetricSeries;
  /** Unique among the lines of the chart; default: the name. */
  readonly key?: string;
  /** In the legend; default: what the heading does not say of the name. */
  readonly label?: string;
  /** CSS; default: one of the eight chart colours. */
  readonly color?: string;
  readonly dash?: readonly number[];
  /** Marked with a ring; left out where no direction is known. */
  readonly best?: { readonly step: number; readonly value: number } | null;
  /** Stands behind the values; left out where none is known. */
  readonly unit?: string | undefined;
  /** What the legend shows without a cursor; default: the last point. */
  readonly latest?: number;
  /** The epoch at a step; null or left out: unknown, and steps stand on the x axis instead. */
  readonly epochAt?: ((step: number) => number) | null;
  /** ms since the Unix epoch, from which `elapsed` counts; default: the first point. */
  readonly startedAt?: number;
}

/** Something that has happened at a step. */
export interface ChartMark {
  readonly step: number;
  /** ms since the Unix epoch; null: when the lines had that step. */
  readonly ts: number | null;
  readonly tone: PlotMark['tone'];
  readonly label: string;
}

export function keyOf({ key, name }: ChartLine): string {
  return key ?? name;
}

export function isWithoutPoints(lines: readonly ChartLine[]): boolean {
  return lines.every(({ series }) => series.steps.length === 0);
}

/** CSS colours of the lines. */
export function cssColorsOf(lines: readonly ChartLine[]): string[] {
  const numbers = assignColors(lines.map(({ name }) => name));
  return lines.map(({ color }, at) => color ?? `var(--chart-${numbers[at]})`);
}

/** What tells the lines apart: what the heading does not say of a name, else the whole name. */
export function labelsOf(lines: readonly ChartLine[], heading: string): string[] {
  if (lines.length === 1) {
    const { label, name } = lines[0]!;
    return [label ?? name];
  }
  const labels = lines.map(({ label, name }) => label ?? labelOf(name, heading));
  const isUnique = (label: string): boolean => labels.indexOf(label) === labels.lastIndexOf(label);
  return lines.map(({ label, name }, at) => label ?? (isUnique(labels[at]!) ? labels[at]! : name));
}

/** What is drawn, piece by piece, to compare with what was. Series grow in place: their length tells it. */
export function contentOf(lines: readonly ChartLine[], marks: readonly ChartMark[]): unknown[] {
  return [
    marks.map(({ step, tone }) => `${step} ${tone}`).join(),
    ...lines.flatMap(({ series, best, epochAt, startedAt }) => [
      series,
      series.steps.length,
      best?.step,
      best?.value,
      epochAt,
      startedAt,
    ]),
  ];
}

/** More lines than this are not read out one by one. */
const MOST_DESCRIBED = 10;

/** For those who cannot see it. */
export function describeLines(lines: readonly ChartLine[], heading: string): string {
  const parts = lines.slice(0, MOST_DESCRIBED).map(({ name, series }) => {
    const last = series.values.at(-1);
    return last === undefined
      ? `${name}: no points`
      : `${name}: ${formatValue(last)} at step ${series.steps.at(-1)}`;
  });
  const more = lines.length - parts.length;
  return `Chart of ${heading}. ${parts.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

export function toPlotLine(line: ChartLine, kind: XKind): PlotLine {
  const { series, best = null, dash = [] } = line;
  const at = best === null ? -1 : findPoint(series, best);
  return {
    ...sortByX({ xs: xsOf(line, kind), values: series.values }),
    isThinned: series.total > series.steps.length,
    best: at < 0 ? null : { x: toX(line, kind, series.steps[at]!, series.ts[at]!), value: best!.value },
    dash,
  };
}

/** null: nothing tells where it stands. */
export function toPlotMark(mark: ChartMark, lines: readonly ChartLine[], kind: XKind): PlotMark | null {
  const x = xOfMark(mark, lines, kind);
  return x === null ? null : { x, tone: mark.tone };
}

function xOfMark({ step, ts }: ChartMark, lines: readonly ChartLine[], kind: XKind): number | null {
  if (kind === 'step') return step;
  if (kind === 'epoch') return lines.find(({ epochAt }) => epochAt)?.epochAt?.(step) ?? null;
  const line = lines.find(({ series }) => series.steps.length > 0);
  if (!line) return null;
  const { steps, ts: times } = line.series;
  const at = Math.min(lowerBound(steps, step), steps.length - 1);
  return toX(line, kind, step, ts ?? times[at]!);
}

/** The places of the points of a line. */
export function xsOf(line: ChartLine, kind: XKind): readonly number[] {
  const { steps, ts } = line.series;
  if (kind === 'step' || (kind === 'epoch' && !line.epochAt)) return steps;
  return kind === 'time' ? ts : steps.map((step, at) => toX(line, kind, step, ts[at]!));
}

function toX({ series, epochAt, startedAt }: ChartLine, kind: XKind, step: number, ts: number): number {
  if (kind === 'time') return ts;
  if (kind === 'elapsed') return ts - (startedAt ?? series.ts[0] ?? 0);
  return kind === 'epoch' && epochAt ? epochAt(step) : step;
}

function findPoint(
  { steps, values }: MetricSeries,
  { step, value }: { step: number; value: number },
): number {
  for (let at = lowerBound(steps, step); steps[at] === step; at += 1) if (values[at] === value) return at;
  return -1;
}
