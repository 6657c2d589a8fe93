import { toConfigRows } from './config-rows.js';
import { scaleOf, type Scale } from './scale.js';
import type { ShownRun } from './shown-run.js';

/** A name of config, or the metric, with the value of each run. */
export interface Axis {
  readonly name: string;
  readonly isMetric: boolean;
  /** By the place of the run; undefined where it has none. */
  readonly values: readonly unknown[];
  readonly scale: Scale;
}

const FIRST_AXES = 5;
/** A value that is longer has no place beside an axis. */
const LONGEST_VALUE = 100;

/** Config that differs between the runs and can stand on an axis: numbers first, as they say the most. */
export function configAxes(runs: readonly ShownRun[]): Axis[] {
  const rows = toConfigRows(runs.map(({ run }) => run.config)).filter(
    ({ isDifferent, values }) => isDifferent && values.every(isShort),
  );
  const axes = rows.map(({ name, values }) => toAxis(name, values, false));
  return [...axes.filter(isNumeric), ...axes.filter((axis) => !isNumeric(axis))];
}

export function metricAxis(
  name: string,
  runs: readonly ShownRun[],
  bestOf: (run: ShownRun) => number | null,
): Axis {
  return toAxis(
    name,
    runs.map((run) => bestOf(run) ?? undefined),
    true,
  );
}

/** Those that were chosen and exist, or the first ones. */
export function chooseAxes(axes: readonly Axis[], chosen: readonly string[] | null): Axis[] {
  if (chosen === null) return axes.slice(0, FIRST_AXES);
  return axes.filter(({ name }) => chosen.includes(name));
}

function toAxis(name: string, values: readonly unknown[], isMetric: boolean): Axis {
  return { name, isMetric, values, scale: scaleOf(values) };
}

function isNumeric({ scale }: Axis): boolean {
  return scale.kind !== 'category';
}

function isShort(value: unknown): boolean {
  return typeof value === 'object'
    ? JSON.stringify(value).length <= LONGEST_VALUE
    : String(value).length <= LONGEST_VALUE;
}
