import type { Range } from './axis.js';

/** What a key does on a plot; null: nothing. */
export type KeyAction = { readonly move: number } | { readonly zoom: number } | 'all' | null;

const KEYS: Readonly<Record<string, KeyAction>> = {
  ArrowLeft: { move: -1 },
  ArrowRight: { move: 1 },
  Home: { move: -Infinity },
  End: { move: Infinity },
  '+': { zoom: 0.5 },
  '=': { zoom: 0.5 },
  '-': { zoom: 2 },
  '0': 'all',
};

/** With Shift, an arrow goes ten points. */
export function actionOf({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): KeyAction {
  if (ctrlKey || metaKey || altKey) return null;
  const action = KEYS[key] ?? null;
  const isMove = action !== null && typeof action === 'object' && 'move' in action;
  return isMove && shiftKey ? { move: action.move * 10 } : action;
}

/** The row so many points further, within those in view; null without any. `row` null: from outside. */
export function rowAfter(
  xs: readonly number[],
  [from, to]: Range,
  row: number | null,
  by: number,
): number | null {
  const first = xs.findIndex((x) => x >= from);
  const last = xs.findLastIndex((x) => x <= to);
  if (first < 0 || last < first) return null;
  const start = row ?? (by > 0 ? first - 1 : last + 1);
  return Math.min(last, Math.max(first, start + by));
}

/** The range by that factor as wide, around a place in it; null: everything. */
export function zoomBy(
  xs: readonly number[],
  [from, to]: Range,
  around: number,
  factor: number,
): Range | null {
  const range: Range = [around - (around - from) * factor, around + (to - around) * factor];
  const isAll = range[0] <= (xs[0] ?? 0) && range[1] >= (xs.at(-1) ?? 0);
  return isAll ? null : range;
}
