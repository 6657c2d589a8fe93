import type { ListPage } from '../data/lists.js';

export interface ListItem {
  readonly id: string;
  readonly created_at: number;
}

/** The items of a list as far as they were loaded, newest first. */
export interface ListState<T> extends ListPage<T> {
  /** Newer ones, held back while the reader is further down. */
  readonly waiting: readonly T[];
}

export const EMPTY_LIST: ListState<never> = { items: [], hasMore: false, isCut: false, waiting: [] };

/**
 * The first page anew: it replaces what it covers; older items that were loaded stay below, unless there are items between the two
 * that were never loaded.
 */
export function withFirstPage<T extends ListItem>(
  held: ListState<T>,
  page: ListPage<T>,
  isHolding = false,
): ListState<T> {
  const shown = toIds(held.items);
  const known = new Set([...shown, ...toIds(held.waiting)]);
  if (!page.items.some(({ id }) => known.has(id))) return { ...page, waiting: [] };
  const last = page.items.at(-1)!;
  const older = page.hasMore ? held.items.filter((item) => compare(item, last) > 0) : [];
  const { hasMore, isCut } = older.length > 0 ? held : page;
  const { total } = page;
  const isShown = ({ id }: T): boolean => !isHolding || shown.has(id);
  return {
    items: [...page.items.filter(isShown), ...older],
    hasMore,
    isCut,
    waiting: page.items.filter((item) => !isShown(item)),
    ...(total !== undefined && { total }),
  };
}

/** The page behind what is held. */
export function withNextPage<T extends ListItem>(held: ListState<T>, page: ListPage<T>): ListState<T> {
  return { ...held, ...page, items: merge(held.items, page.items) };
}

/** As `withFirstPage`, of a list that the server sorts: items that have left the first page stand behind it until they are loaded anew. */
export function withSortedFirstPage<T extends ListItem>(held: ListState<T>, page: ListPage<T>): ListState<T> {
  const fresh = toIds(page.items);
  const isKnown = held.items.some(({ id }) => fresh.has(id));
  const rest = isKnown && page.hasMore ? held.items.filter(({ id }) => !fresh.has(id)) : [];
  const { hasMore, isCut } = rest.length > 0 ? held : page;
  return { ...page, items: [...page.items, ...rest], hasMore, isCut, waiting: [] };
}

/** As `withNextPage`, of a list that the server sorts. */
export function withSortedNextPage<T extends ListItem>(held: ListState<T>, page: ListPage<T>): ListState<T> {
  const known = toIds(held.items);
  return { ...held, ...page, items: [...held.items, ...page.items.filter(({ id }) => !known.has(id))] };
}

/** Items that have just been made; past `most` the oldest ones go, and can be loaded again. */
export function withNew<T extends ListItem>(
  held: ListState<T>,
  fresh: readonly T[],
  isHolding: boolean,
  most: number,
): ListState<T> {
  const known = toIds(held.items);
  const waiting = merge(
    held.waiting,
    fresh.filter(({ id }) => !known.has(id)),
  ).slice(0, most);
  return isHolding ? { ...held, waiting } : withWaiting({ ...held, waiting }, most);
}

/** What was held back, on top. */
export function withWaiting<T extends ListItem>(held: ListState<T>, most: number): ListState<T> {
  const items = merge(held.items, held.waiting);
  return {
    items: items.slice(0, most),
    hasMore: held.hasMore || items.length > most,
    isCut: items.length > most ? false : held.isCut,
    waiting: [],
  };
}

/** One item as it is now; null when it no longer belongs to the list. */
export function withItem<T extends ListItem>(held: ListState<T>, id: string, item: T | null): ListState<T> {
  return { ...held, items: held.items.flatMap((one) => (one.id === id ? (item ?? []) : one)) };
}

function toIds(items: readonly ListItem[]): Set<string> {
  return new Set(items.map(({ id }) => id));
}

/** Both as one, newest first, each item once: as `fresh` has it. */
function merge<T extends ListItem>(held: readonly T[], fresh: readonly T[]): T[] {
  if (fresh.length === 0) return [...held];
  const byId = new Map([...held, ...fresh].map((item) => [item.id, item]));
  return [...byId.values()].sort(compare);
}

function compare(a: ListItem, b: ListItem): number {
  return b.created_at - a.created_at || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}
