import type { Range, XKind } from '../chart/axis.js';
import { xsOf, type ChartLine } from '../chart/chart-lines.js';
import type { CompareView } from './compare-view.js';
import type { ShownRun } from './shown-run.js';

/** By epoch only where epochs are known; by time the runs begin together. */
export function axisOf({ charts: { x } }: CompareView, runs: readonly ShownRun[]): XKind {
  if (x === 'epoch' && !haveEpochs(runs)) return 'step';
  return x === 'time' ? 'elapsed' : x;
}

/** A run is told its epoch by the points that tell theirs. */
export function haveEpochs(runs: readonly ShownRun[]): boolean {
  return runs.some(({ run }) => run.epoch !== null);
}

/** What is in view, which the server knows by steps; null: all. */
export function stepsInView({ charts: { range }, steps }: CompareView, axis: XKind): Range | null {
  if (range === null || axis !== 'step') return range && steps;
  return [Math.floor(range[0]), Math.ceil(range[1])];
}

/** The steps of the points in that part of the x axis, of all lines together; null without any. */
export function stepsWithin(lines: readonly ChartLine[], kind: XKind, [from, to]: Range): Range | null {
  const steps = lines.flatMap((line) => {
    const xs = xsOf(line, kind);
    return line.series.steps.filter((_, at) => xs[at]! >= from && xs[at]! <= to);
  });
  return extentOf(steps);
}

/** The part of the x axis in which the points of these steps stand, of all lines together; null without any. */
export function placesOf(lines: readonly ChartLine[], kind: XKind, [from, to]: Range): Range | null {
  const places = lines.flatMap((line) => {
    const { steps } = line.series;
    return xsOf(line, kind).filter((_, at) => steps[at]! >= from && steps[at]! <= to);
  });
  return extentOf(places);
}

function extentOf(numbers: readonly number[]): Range | null {
  let [low, high] = [Infinity, -Infinity];
  for (const number of numbers) {
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  return low > high ? null : [low, high];
}
