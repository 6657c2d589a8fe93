import { MAX_COMPARED } from '../data/comparison.js';

/** What the page of a comparison shows; all of it is in its address. */
export interface CompareView {
  /** As the address names them, each once. */
  readonly runs: readonly string[];
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
  const runs = [...new Set(toItems(query.get('runs')) ?? [])];
  const smoothing = Number(query.get('smoothing'));
  return {
    runs: runs.slice(0, MAX_COMPARED),
    leftOut: Math.max(0, runs.length - MAX_COMPARED),
    metrics: toItems(query.get('metrics')),
    hidden: toItems(query.get('hidden')) ?? [],
    baseline: query.get('baseline'),
    isAllConfig: query.get('config') === 'all',
    isLog: query.get('scale') === 'log',
    smoothing: smoothing > 0 && smoothing < 1 ? smoothing : 0,
    range: toRange(query.get('steps')),
    sort: query.get('sort'),
    axes: toItems(query.get('axes')),
    x: query.get('x'),
    target: query.get('target'),
  };
}

/** The query of the address; what is as usual is left out. */
export function queryOf(view: CompareView): Query {
  return {
    runs: toList(view.runs),
    metrics: view.metrics && toList(view.metrics),
    hidden: toList(view.hidden),
    baseline: view.baseline,
    config: view.isAllConfig ? 'all' : null,
    scale: view.isLog ? 'log' : null,
    smoothing: view.smoothing > 0 ? String(view.smoothing) : null,
    steps: view.range && view.range.join('..'),
    sort: view.sort,
    axes: view.axes && toList(view.axes),
    x: view.x,
    target: view.target,
  };
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
