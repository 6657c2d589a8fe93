import type { NextActionRecord } from '@svc/contract';
import { SHORTEST_CLIP, clip, type Bounds } from './clip.js';
import { toShowable } from './showable.js';
import { columnsOf, toRow, toText } from './text.js';
import { estimateTokens } from './tokens.js';

/** What a tool found, before it is made to fit. */
export interface Found {
  readonly body: Readonly<Record<string, unknown>>;
  /** The list that is cut first. */
  readonly list?: FoundList;
  readonly next_actions: readonly NextActionRecord[];
}

export interface FoundList {
  readonly name: string;
  readonly items: readonly unknown[];
  /** What is shown of an item. */
  toItem?(item: unknown): unknown;
  /** How many items there are behind these; `isMinimum`: at least so many. */
  readonly behind?: { readonly count: number; readonly isMinimum: boolean };
  /** true: the last items are the most important ones, as of a log. */
  readonly isTail?: boolean;
  /** So many items are shown whole rather than more of them shortened. */
  readonly enough?: number;
  /** Asks for the items behind the first (`isTail`: before the last) `shown` ones. null: they cannot be asked for. */
  more(shown: number): NextActionRecord | null;
}

export interface Fitted {
  readonly structured: Readonly<Record<string, unknown>>;
  readonly text: string;
}

const LEVELS: readonly Bounds[] = [
  { characters: 2000, entries: 200, fields: 32 },
  { characters: 500, entries: 50, fields: 32 },
  { characters: 160, entries: 16, fields: 32 },
  { characters: SHORTEST_CLIP, entries: 8, fields: 32 },
  { characters: SHORTEST_CLIP, entries: 3, fields: 32 },
  { characters: SHORTEST_CLIP, entries: 3, fields: 20 },
];
/** Rather shorter texts than fewer items. */
const ENOUGH_ITEMS = 10;
/** A single next action with larger arguments is left out. */
const ACTION_SHARE = 0.3;
/** Of the estimate. */
const MARGIN = 0.95;

/** The answer within that many tokens, both of its forms together. */
export function fit(found: Found, maxTokens: number): Fitted {
  const budget = maxTokens * MARGIN;
  const cut = new Set<string>();
  const next_actions = found.next_actions.filter((action) => isSmall(action, budget * ACTION_SHARE, cut));
  const body = toShowable(found.body) as Found['body'];
  const itemAt = toItems(found.list);
  for (; ; next_actions.pop()) {
    for (const [index, bounds] of LEVELS.entries()) {
      const parts = { body, list: found.list, next_actions, itemAt };
      const fitted = fitWithin(parts, bounds, budget, new Set(cut));
      const isLast = index === LEVELS.length - 1;
      if (fitted && (fitted.isEnough || isLast)) return fitted;
    }
    // Only the actions are left to shorten.
    if (next_actions.length === 0) throw new Error('an answer cannot be made small enough');
  }
}

/** Most items of a long list are never shown: each is made when it is asked for, and once. */
function toItems(list: FoundList | undefined): (index: number) => unknown {
  const made = new Map<number, unknown>();
  return (index) => {
    const item = list?.items[index];
    if (!made.has(index)) made.set(index, toShowable(list?.toItem ? list.toItem(item) : item));
    return made.get(index);
  };
}

interface Parts extends Omit<Found, 'list'> {
  readonly list: FoundList | undefined;
  itemAt(index: number): unknown;
}

function fitWithin(
  { body, list, next_actions, itemAt }: Parts,
  bounds: Bounds,
  budget: number,
  cut: Set<string>,
): (Fitted & { readonly isEnough: boolean }) | null {
  const head = clip(body, bounds, '', cut) as Record<string, unknown>;
  if (!list) {
    const fitted = toForms({ ...head, ...toCut(cut), next_actions });
    return fitted.tokens <= budget ? { ...fitted, isEnough: true } : null;
  }
  const all = list.items.length;
  const clipped: unknown[] = [];
  const clippedAt = (nth: number): unknown =>
    (clipped[nth] ??= clip(itemAt(list.isTail ? all - 1 - nth : nth), bounds, list.name, cut));
  const build = (shown: number): Record<string, unknown> => {
    const left = {
      count: all - shown + (list.behind?.count ?? 0),
      isMinimum: list.behind?.isMinimum,
    };
    const more = left.count > 0 ? list.more(shown) : null;
    const items = Array.from({ length: shown }, (_, nth) => clippedAt(nth));
    return {
      ...head,
      [list.name]: list.isTail ? items.reverse() : items,
      left: left.count,
      left_is_minimum: left.isMinimum ?? false,
      ...toCut(cut),
      next_actions: [...(more ? [more] : []), ...next_actions],
    };
  };
  let shown = countFitting(list, clippedAt, budget - toForms(build(0)).tokens);
  let fitted = toForms(build(shown));
  while (fitted.tokens > budget && shown > 0) fitted = toForms(build((shown = Math.floor(shown * 0.9))));
  if (fitted.tokens > budget || (shown === 0 && all > 0)) return null;
  return { ...fitted, isEnough: shown >= Math.min(all, list.enough ?? ENOUGH_ITEMS) };
}

function countFitting({ items }: FoundList, clippedAt: (nth: number) => unknown, budget: number): number {
  const columns = columnsOf(items);
  let spent = 0;
  for (let nth = 0; nth < items.length; nth += 1) {
    const item = clippedAt(nth);
    spent += estimateTokens(`${JSON.stringify(item)},`) + estimateTokens(`- ${toRow(item, columns)}\n`);
    if (spent > budget) return nth;
  }
  return items.length;
}

function toForms(structured: Record<string, unknown>): Fitted & { readonly tokens: number } {
  const text = toText(structured);
  return { structured, text, tokens: estimateTokens(JSON.stringify(structured)) + estimateTokens(text) };
}

function toCut(cut: ReadonlySet<string>): { cut?: string[] } {
  return cut.size > 0 ? { cut: [...cut].slice(0, 8) } : {};
}

function isSmall(action: NextActionRecord, most: number, cut: Set<string>): boolean {
  const tokens = estimateTokens(JSON.stringify(action));
  if (tokens <= most / 2) return true;
  cut.add(`next_actions: ${action.tool} is left out, as its arguments are too long to show`);
  return false;
}
