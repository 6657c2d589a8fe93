/** What a cell is sorted by; null: nothing stands there. */
export type SortValue = number | string | null;

export interface Sort {
  /** The id of a column. */
  readonly by: string;
  readonly isDescending: boolean;
}

/** The key of the group of those that belong to none. */
export const NO_GROUP = '∅';

/** A group that a run belongs to. */
export interface Place {
  readonly key: string;
  readonly label: string;
}

export type Line<T> =
  | {
      readonly kind: 'group';
      readonly key: string;
      readonly label: string;
      readonly count: number;
      readonly isOpen: boolean;
    }
  | { readonly kind: 'item'; readonly key: string; readonly item: T };

export interface Arrangement<T> {
  /** null: in the order given. */
  readonly sort: ((item: T) => SortValue) | null;
  readonly isDescending: boolean;
  /** null: no groups. An item may belong to several. */
  readonly group: ((item: T) => readonly Place[]) | null;
  /** Keys of groups whose items are not shown. */
  readonly closed: ReadonlySet<string>;
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** The lines of a table. Items without a value come last, whichever the direction. */
export function arrange<T extends { readonly id: string }>(
  items: readonly T[],
  { sort, isDescending, group, closed }: Arrangement<T>,
): Line<T>[] {
  const sorted = sort === null ? items : sortItems(items, sort, isDescending);
  if (group === null) return sorted.map((item) => ({ kind: 'item', key: item.id, item }));
  const groups = collect(sorted, group);
  return groups.flatMap(({ key, label, members }) => {
    const isOpen = !closed.has(key);
    const head: Line<T> = { kind: 'group', key, label, count: members.length, isOpen };
    if (!isOpen) return [head];
    return [head, ...members.map((item): Line<T> => ({ kind: 'item', key: `${key}\n${item.id}`, item }))];
  });
}

function sortItems<T>(items: readonly T[], valueOf: (item: T) => SortValue, isDescending: boolean): T[] {
  const keyed = items.map((item, at) => ({ item, at, value: valueOf(item) }));
  keyed.sort((a, b) => compareValues(a.value, b.value, isDescending) || a.at - b.at);
  return keyed.map(({ item }) => item);
}

/** Numbers before texts, NaN behind both, nothing at the very end. */
export function compareValues(a: SortValue, b: SortValue, isDescending: boolean): number {
  const byKind = kindOf(a) - kindOf(b);
  if (byKind !== 0) return byKind;
  const sign = isDescending ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a === b ? 0 : a < b ? -sign : sign;
  if (typeof a === 'string' && typeof b === 'string') return sign * collator.compare(a, b);
  return 0;
}

function kindOf(value: SortValue): number {
  if (value === null) return 3;
  if (typeof value === 'string') return 1;
  return Number.isNaN(value) ? 2 : 0;
}

function collect<T>(
  items: readonly T[],
  placesOf: (item: T) => readonly Place[],
): { key: string; label: string; members: T[] }[] {
  const groups = new Map<string, { key: string; label: string; members: T[] }>();
  for (const item of items) {
    for (const { key, label } of placesOf(item)) {
      const known = groups.get(key);
      if (known) known.members.push(item);
      else groups.set(key, { key, label, members: [item] });
    }
  }
  // What has no name for its group comes last.
  return [...groups.values()].sort(
    (a, b) => Number(a.key === NO_GROUP) - Number(b.key === NO_GROUP) || collator.compare(a.label, b.label),
  );
}
