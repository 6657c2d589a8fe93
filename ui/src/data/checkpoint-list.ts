import type { CheckpointFilter } from './lists.js';

/** What the page of checkpoints shows; all of it is in its address. */
export interface CheckpointListView extends CheckpointFilter {
  /** null: the primary one. */
  readonly metric: string | null;
  /** `value`: the best first; null: the newest first. */
  readonly sort: 'value' | 'step' | null;
  /** Ids of those that are compared. */
  readonly compare: readonly string[];
}

export function checkpointViewOf(query: URLSearchParams): CheckpointListView {
  const sort = query.get('sort');
  const get = (name: string): string | null => query.get(name) || null;
  return {
    run_id: get('run_id'),
    experiment_id: get('experiment_id'),
    project_id: get('project_id'),
    q: get('q'),
    metric: get('metric'),
    sort: sort === 'value' || sort === 'step' ? sort : null,
    compare: [...new Set(get('compare')?.split(',').filter(Boolean) ?? [])],
  };
}

export function checkpointQueryOf(view: CheckpointListView): Record<string, string | null> {
  return { ...view, compare: view.compare.join(',') };
}

/** The lowest key first and what has none last; those of one key stay in their order. */
export function sortedBy<T>(items: readonly T[], keyOf: (item: T) => number): T[] {
  const toKey = (item: T): number => {
    const key = keyOf(item);
    return Number.isNaN(key) ? Infinity : key;
  };
  const keys = new Map(items.map((item) => [item, toKey(item)]));
  return [...items].sort((a, b) => {
    const [first, second] = [keys.get(a)!, keys.get(b)!];
    return first < second ? -1 : first > second ? 1 : 0;
  });
}
