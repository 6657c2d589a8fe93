import type { NextActionRecord } from '@svc/contract';
import { SHORTEST_CLIP, clip, type Bounds } from './clip.js';
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
  { characters: 2000, entries: 200 },
  { characters: 500, entries: 50 },
  { characters: 160, entries: 16 },
  { characters: SHORTEST_CLIP, entries: 8 },
  { characters: SHORTEST_CLIP, entries: 3 },
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
  const actions = found.next_actions.filter((action) => isSmall(action, budget * ACTION_SHARE, cut));
  for (const [index, bounds] of LEVELS.entries()) {
    const fitted = fitWithin({ ...found, next_actions: actions }, bounds, budget, new Set(cut));
    const isLast = index === LEVELS.length - 1;
    if (fitted && (fitted.isEnough || isLast)) return fitted;
  }
  // Only the actions are left to shorten.
  if (actions.length > 0) return fit({ ...found, next_actions: actions.slice(0, -1) }, maxTokens);
  throw new Error('an answer cannot be made small enough');
}

function fitWithin(
  { body, list, next_actions }: Found,
  bounds: Bounds,
  budget: number,
  cut: Set<string>,
): (Fitted & { readonly isEnough: boolean }) | null {
  const head = clip(body, bounds, '', cut) as Record<string, unknown>;
  if (!list) {
    const fitted = toForms({ ...head, ...toCut(cut), next_actions });
    return fitted.tokens <= budget ? { ...fitted, isEnough: true } : null;
  }
  const items = list.items.map((item) => clip(item, bounds, list.name, cut));
  const build = (shown: number): Record<string, unknown> => {
    const left = {
      count: items.length - shown + (list.behind?.count ?? 0),
      isMinimum: list.behind?.isMinimum,
    };
    const more = left.count > 0 ? list.more(shown) : null;
    return {
      ...head,
      [list.name]: list.isTail ? items.slice(items.length - shown) : items.slice(0, shown),
      left: left.count,
      left_is_minimum: left.isMinimum ?? false,
      ...toCut(cut),
      next_actions: [...(more ? [more] : []), ...next_actions],
    };
  };
  let shown = countFitting(items, list.isTail ?? false, budget - toForms(build(0)).tokens);
  let fitted = toForms(build(shown));
  while (fitted.tokens > budget && shown > 0) fitted = toForms(build((shown = Math.floor(shown * 0.9))));
  if (fitted.tokens > budget || (shown === 0 && items.length > 0)) return null;
  return { ...fitted, isEnough: shown >= Math.min(items.length, list.enough ?? ENOUGH_ITEMS) };
}

function countFitting(items: readonly unknown[], isTail: boolean, budget: number): number {
  const columns = columnsOf(items);
  const ordered = isTail ? items.toReversed() : items;
  let spent = 0;
  const end = ordered.findIndex((item) => {
    spent += estimateTokens(`${JSON.stringify(item)},`) + estimateTokens(`- ${toRow(item, columns)}\n`);
    return spent > budget;
  });
  return end === -1 ? items.length : end;
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
