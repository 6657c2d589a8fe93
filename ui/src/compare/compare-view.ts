import type { Range } from '../chart/axis.js';
import { readRange, readView, type ChartView } from '../components/chart-view.js';
import type { Address } from '../controllers/address.js';
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
  /** How the charts are shown, under the same names as those of a run. */
  readonly charts: ChartView;
  /** The steps that are in view by epoch or time, of all runs together. */
  readonly steps: Range | null;
  /** The metric by which the runs are sorted; null: as the address names them. */
  readonly sort: string | null;
  /** Names of config that are axes beside the metric; null: those that the page chooses. */
  readonly axes: readonly string[] | null;
  /** Of the scatter: a name of config, null for the first that differs. */
  readonly x: string | null;
  /** The metric that config is held against; null for the first one. */
  readonly target: string | null;
}

/** What a page of a comparison changes of it; the charts have an address of their own. */
export type CompareChange = Partial<Omit<CompareView, 'charts' | 'steps' | 'leftOut'>>;

type Query = Record<string, string | null>;

export function viewOf(query: Pick<Address, 'get'>): CompareView {
  const named = toPlaces(query.get('runs') ?? '');
  const runs = runsIn(named);
  const leftOut = runs.slice(MAX_COMPARED);
  return {
    places: withoutRuns(named, leftOut),
    leftOut: leftOut.length,
    metrics: toItems(query.get('metrics')),
    hidden: toItems(query.get('hidden')) ?? [],
    baseline: query.get('baseline'),
    isAllConfig: query.get('config') === 'all',
    charts: readView(query),
    steps: readRange(query.get('steps')),
    sort: query.get('sort'),
    axes: toItems(query.get('axes')),
    x: query.get('scatter'),
    target: query.get('target'),
  };
}

/** The part of the address that a change concerns; what is as usual is left out. */
export function queryOf(change: CompareChange): Query {
  const { places, metrics, hidden, baseline, isAllConfig, sort, axes, x, target } = change;
  const query: Record<string, string | null | undefined> = {
    runs: places && toList(places),
    metrics: metrics && toList(metrics),
    hidden: hidden && toList(hidden),
    baseline,
    config: isAllConfig === undefined ? undefined : isAllConfig ? 'all' : null,
    sort,
    axes: axes && toList(axes),
    scatter: x,
    target,
  };
  return Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string | null] => entry[1] !== undefined),
  );
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
