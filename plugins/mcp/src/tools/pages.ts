import type { ToolName } from '@svc/contract';
import type { FoundList } from '../answer/fit.js';
import { toAction } from './tool.js';

const NEXT_PAGE = 'the items behind these';
/** Of lists that are not asked for a number. */
export const PAGE_ITEMS = 100;

interface PageOf {
  readonly name: string;
  readonly tool: ToolName;
  readonly args: Readonly<Record<string, unknown>>;
}

interface Rows<Row> {
  readonly items: readonly Row[];
  /** There when the REST API left some out because of their size. */
  readonly truncated?: true;
}

interface PageParts<Row> {
  readonly limit: number;
  readonly cursorOf: (row: Row) => string | number;
  readonly toItem: (row: Row) => unknown;
}

/** A page of a list of the REST API, newest first, which goes on behind the last item shown. */
export function toPage<Row extends object>(
  { name, tool, args }: PageOf,
  { items, truncated }: Rows<Row>,
  { limit, cursorOf, toItem }: PageParts<Row>,
): FoundList {
  const isFull = truncated ?? items.length >= limit;
  return {
    name,
    items: items.map(toItem),
    behind: { count: isFull ? 1 : 0, isMinimum: isFull },
    more: (shown) => {
      const last = items[shown - 1];
      return last === undefined ? null : toAction(tool, { ...args, before: cursorOf(last) }, NEXT_PAGE);
    },
  };
}

/** A list that is known as a whole, and goes on at an offset. */
export function toWhole({ name, tool, args }: PageOf, items: readonly unknown[]): FoundList {
  const offset = typeof args['offset'] === 'number' ? args['offset'] : 0;
  return {
    name,
    items: items.slice(offset),
    more: (shown) => toAction(tool, { ...args, offset: offset + shown }, NEXT_PAGE),
  };
}
