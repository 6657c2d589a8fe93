import { withoutDirection } from '@svc/contract/protocol';
import type { Paint, Style } from './style.js';
import { cutToWidth, widthOf } from './text-width.js';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly style?: (row: Row) => Style | null;
  readonly align?: 'right';
  /** May be shown in part where the terminal is narrow. */
  readonly shrinks?: true;
  /** Left out where the terminal is too narrow for all; the last such column goes first. */
  readonly optional?: true;
}

export const GAP = 2;
const NARROWEST = 6;

/** Of the terminal; where the output goes elsewhere there is no limit. */
export const terminalWidth = (): number =>
  process.stdout.isTTY ? (process.stdout.columns ?? Infinity) : Infinity;

/** Lines of a table: columns as wide as their widest cell, as far as `width` allows, two spaces between, nothing after the last. */
export function toTable<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  paint: Paint,
  width = terminalWidth(),
): string[] {
  const columns = withRoom(all, rows, width);
  const whole = rows.map((row) => columns.map((column) => toPlainText(column.cell(row))));
  const wanted = columns.map((column) => widthOfColumn(column, rows));
  const widths = fitWidths(columns, wanted, width);
  const cells = whole.map((line) => line.map((text, index) => cutToWidth(text, widths[index] ?? 0)));
  const pad = (text: string, index: number): string => {
    const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)));
    return columns[index]?.align === 'right' ? space + text : text + space;
  };
  const head = paint(
    'dim',
    columns
      .map(({ title }, index) => pad(title, index))
      .join('  ')
      .trimEnd(),
  );
  const body = rows.map((row, at) =>
    columns
      .map((column, index) => {
        const text = pad(cells[at]?.[index] ?? '', index);
        const style = column.style?.(row);
        const shown = index === columns.length - 1 ? text.trimEnd() : text;
        return style ? paint(style, shown) : shown;
      })
      .join('  ')
      .trimEnd(),
  );
  return [head, ...body];
}

function widthOfColumn<Row>({ title, cell }: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce((widest, row) => Math.max(widest, widthOf(toPlainText(cell(row)))), title.length);
}

const narrowestOf = ({ title }: Column<never>): number => Math.max(NARROWEST, title.length);

/** The columns that fit side by side, each as narrow as it can be. */
function withRoom<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): readonly Column<Row>[] {
  if (width === Infinity) return columns;
  const kept = columns.map((column) => {
    const wanted = widthOfColumn(column, rows);
    return { column, narrowest: GAP + (column.shrinks ? Math.min(wanted, narrowestOf(column)) : wanted) };
  });
  while (kept.reduce((sum, { narrowest }) => sum + narrowest, -GAP) > width) {
    const at = kept.findLastIndex(({ column }) => column.optional);
    if (at === -1) break;
    kept.splice(at, 1);
  }
  return kept.map(({ column }) => column);
}

/** Takes from the widest column that shrinks until all fit, or none can shrink further. */
function fitWidths(columns: readonly Column<never>[], wanted: readonly number[], width: number): number[] {
  const widths = [...wanted];
  const total = () => widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1);
  while (total() > width) {
    const shrinking = widths.map((each, at) => {
      const column = columns[at];
      return column?.shrinks && each > narrowestOf(column) ? each : 0;
    });
    const widest = shrinking.indexOf(Math.max(...shrinking));
    if (!shrinking[widest]) break;
    widths[widest]! -= 1;
  }
  return widths;
}

/** A third `cut`: the value is shown in part where the terminal is narrow. */
export type Field = readonly [name: string, value: string, cut?: 'cut'];

/** `name  value` lines. */
export function toFields(fields: readonly Field[], paint: Paint, terminal = terminalWidth()): string[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value, cut]) => {
    const plain = toPlainText(value);
    const shown = cut ? cutToWidth(plain, Math.max(NARROWEST, terminal - width - GAP)) : plain;
    return `${paint('dim', name.padEnd(width))}  ${shown}`.trimEnd();
  });
}

/** Removes control characters, those of the writing direction too: text of other users must not control the terminal. */
export function toPlainText(text: string): string {
  return withoutDirection(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
}
