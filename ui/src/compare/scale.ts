import { formatTick } from '../format.js';
import { showConfig } from './config-rows.js';

/** Where values of config or of a metric stand on an axis, from 0 to 1. */
export interface Scale {
  readonly kind: 'linear' | 'log' | 'category';
  /** null where the run has no value that can stand on the axis. */
  place(value: unknown): number | null;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

/** Values that span more than this are shown on a log axis. */
const LOG_SPAN = 50;
const MOST_LABELS = 12;

/** Numbers on a line, by their logarithm where they span decades; anything else in categories, in the order of their names. */
export function scaleOf(values: readonly unknown[]): Scale {
  const present = values.filter((value) => value !== undefined && value !== null);
  const numbers = present.filter((value): value is number => typeof value === 'number');
  if (present.length === 0 || numbers.length < present.length) return categoryScale(present);
  const finite = numbers.filter(Number.isFinite);
  const min = Math.min(...finite);
  const max = Math.max(...finite);
  return min > 0 && max / min >= LOG_SPAN ? logScale(min, max) : linearScale(min, max, finite);
}

function categoryScale(values: readonly unknown[]): Scale {
  const names = [...new Set(values.map(showConfig))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  );
  const placeOf = (name: string) => (names.length === 1 ? 0.5 : names.indexOf(name) / (names.length - 1));
  const every = Math.ceil(names.length / MOST_LABELS);
  return {
    kind: 'category',
    place: (value) => (value === undefined || value === null ? null : placeOf(showConfig(value))),
    ticks: names.filter((_, at) => at % every === 0).map((label) => ({ at: placeOf(label), label })),
  };
}

function linearScale(min: number, max: number, values: readonly number[]): Scale {
  const toPlace = (value: number) => (min === max ? 0.5 : (value - min) / (max - min));
  const marks = new Set(values).size <= 5 ? [...new Set(values)].sort((a, b) => a - b) : split(min, max);
  return numberScale('linear', toPlace, withoutCrowd(marks, toPlace));
}

function logScale(min: number, max: number): Scale {
  const toPlace = (value: number) => Math.log(value / min) / Math.log(max / min);
  const decades: number[] = [];
  for (let power = Math.ceil(Math.log10(min)); power <= Math.log10(max); power += 1)
    decades.push(10 ** power);
  return numberScale('log', toPlace, withoutCrowd([min, ...decades, max], toPlace));
}

function numberScale(
  kind: 'linear' | 'log',
  toPlace: (value: number) => number,
  marks: readonly number[],
): Scale {
  return {
    kind,
    place: (value) => (typeof value === 'number' && Number.isFinite(value) ? toPlace(value) : null),
    ticks: marks.map((mark) => ({ at: toPlace(mark), label: formatTick(Number(mark.toPrecision(4)), 6) })),
  };
}

function split(min: number, max: number): number[] {
  return [0, 0.25, 0.5, 0.75, 1].map((part) => min + part * (max - min));
}

const BETWEEN_LABELS_PX = 8;

/** The ticks whose labels do not touch on a line of that length; both ends stay. `widthOf`: of a label, in px. */
export function ticksWithRoom(
  ticks: Scale['ticks'],
  lengthPx: number,
  widthOf: (label: string) => number,
): Scale['ticks'] {
  const spanOf = ({ at, label }: Scale['ticks'][number]) => {
    const width = widthOf(label);
    const from = at * lengthPx - width * { start: 0, middle: 0.5, end: 1 }[anchorAt(at)];
    return { from, to: from + width + BETWEEN_LABELS_PX };
  };
  const last = ticks.at(-1);
  const lastFrom = last ? spanOf(last).from : 0;
  let free = -Infinity;
  return ticks.filter((tick, index) => {
    const { from, to } = spanOf(tick);
    const isEnd = index === 0 || tick === last;
    if (!isEnd && (from < free || to > lastFrom)) return false;
    free = to;
    return true;
  });
}

/** Labels at the ends of a line stay within it. */
export function anchorAt(place: number): 'start' | 'middle' | 'end' {
  return place > 0.97 ? 'end' : place < 0.03 ? 'start' : 'middle';
}

/** Both ends stay; a mark between them stays where its label has room. */
function withoutCrowd(marks: readonly number[], toPlace: (value: number) => number): number[] {
  const last = marks.at(-1)!;
  const kept: number[] = [];
  for (const mark of marks) {
    const isFree = kept.length === 0 || toPlace(mark) - toPlace(kept.at(-1)!) >= 0.1;
    if (mark !== last && isFree && (kept.length === 0 || toPlace(last) - toPlace(mark) >= 0.1))
      kept.push(mark);
  }
  return marks.length === 0 ? [] : [...kept, last];
}
