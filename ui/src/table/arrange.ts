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
  /** null: no groups. An item may belong to several. */
  readonly group: ((item: T) => readonly Place[]) | null;
  /** Keys of groups whose items are not shown. */
  readonly closed: ReadonlySet<string>;
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** The lines of a table, in the order of the items. */
export function arrange<T extends { readonly id: string }>(
  items: readonly T[],
  { group, closed }: Arrangement<T>,
): Line<T>[] {
  if (group === null) return items.map((item) => ({ kind: 'item', key: item.id, item }));
  const groups = collect(items, group);
  return groups.flatMap(({ key, label, members }) => {
    const isOpen = !closed.has(key);
    const head: Line<T> = { kind: 'group', key, label, count: members.length, isOpen };
    if (!isOpen) return [head];
    return [head, ...members.map((item): Line<T> => ({ kind: 'item', key: `${key}\n${item.id}`, item }))];
  });
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
