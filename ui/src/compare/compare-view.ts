import { MAX_COMPARED } from '../data/comparison.js';

/** What the page of a comparison shows; all of it is in its address. */
export interface CompareView {
  /** As the address names them, each once. The place of a run gives it its colour: one that was removed leaves its place empty (''), for the next. */
  readonly places: readonly string[];
  /** So many more were named than can be compared. */
  readonly leftOut: number;
  /** null: those that the page chooses. */
  readonly metrics: readonly string[] | null;
  readonly hidden: readonly string[];
  readonly baseline: string | null;
  readonly isAllConfig: boolean;
  readonly isLog: boolean;
  /** Weight of the past, 0 to 0.99. */
  readonly smoothing: number;
  /** Steps in view; null for all. */
  readonly range: readonly [number, number] | null;
  /** The metric whose chart fills the window. */
  readonly full: string | null;
  /** The metric by which the runs are sorted; null: as the address names them. */
  readonly sort: string | null;
  /** Names of config that are axes beside the metric; null: those that the page chooses. */
  readonly axes: readonly string[] | null;
  /** Of the scatter: a name of config, null for the first that differs. */
  readonly x: string | null;
  /** The metric that config is held against; null for the first one. */
  readonly target: string | null;
}

type Query = Record<string, string | null>;

export function viewOf(query: URLSearchParams): CompareView {
  const named = toPlaces(query.get('runs') ?? '');
  const runs = runsIn(named);
  const leftOut = runs.slice(MAX_COMPARED);
  const smoothing = Number(query.get('smoothing'));
  return {
    places: withoutRuns(named, leftOut),
    leftOut: leftOut.length,
    metrics: toItems(query.get('metrics')),
    hidden: toItems(query.get('hidden')) ?? [],
    baseline: query.get('baseline'),
    isAllConfig: query.get('config') === 'all',
    isLog: query.get('scale') === 'log',
    smoothing: smoothing > 0 && smoothing < 1 ? smoothing : 0,
    range: toRange(query.get('steps')),
    full: query.get('chart'),
    sort: query.get('sort'),
    axes: toItems(query.get('axes')),
    x: query.get('x'),
    target: query.get('target'),
  };
}

/** The query of the address; what is as usual is left out. */
export function queryOf(view: CompareView): Query {
  return {
    runs: toList(view.places),
    metrics: view.metrics && toList(view.metrics),
    hidden: toList(view.hidden),
    baseline: view.baseline,
    config: view.isAllConfig ? 'all' : null,
    scale: view.isLog ? 'log' : null,
    smoothing: view.smoothing > 0 ? String(view.smoothing) : null,
    steps: view.range && view.range.join('..'),
    chart: view.full,
    sort: view.sort,
    axes: view.axes && toList(view.axes),
    x: view.x,
    target: view.target,
  };
}

/** The runs at these places, in their order. */
export function runsIn(places: readonly string[]): string[] {
  return places.filter((run) => run !== '');
}

/** The first free places are filled, then come new ones. */
export function withRuns(places: readonly string[], added: readonly string[]): string[] {
  const left = [...added];
  return [...places.map((run) => (run === '' ? (left.shift() ?? '') : run)), ...left];
}

/** All others keep their places. */
export function withoutRuns(places: readonly string[], removed: readonly string[]): string[] {
  const kept = places.map((run) => (removed.includes(run) ? '' : run));
  return kept.slice(0, kept.findLastIndex((run) => run !== '') + 1);
}

/** Names with commas between them; a comma of a name is written as in an address. */
export function toList(items: readonly string[]): string {
  return items.map((item) => item.replace(/[%,]/g, encodeURIComponent)).join(',');
}

function toItems(text: string | null): string[] | null {
  if (text === null) return null;
  return text
    .split(',')
    .filter((item) => item !== '')
    .map(decode);
}

/** As written, but for names that were there before. */
function toPlaces(text: string): string[] {
  const seen = new Set<string>();
  return text.split(',').map((item) => {
    const name = decode(item);
    if (seen.has(name)) return '';
    seen.add(name);
    return name;
  });
}

function decode(item: string): string {
  try {
    return decodeURIComponent(item);
  } catch {
    return item;
  }
}

function toRange(text: string | null): [number, number] | null {
  const [, from, to] = /^(-?\d+)\.\.(-?\d+)$/.exec(text ?? '') ?? [];
  return from !== undefined && Number(from) < Number(to) ? [Number(from), Number(to)] : null;
}
