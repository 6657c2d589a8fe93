import type { Paint, Style } from './style.js';
import { cutToWidth, widthOf } from './text-width.js';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly style?: (row: Row) => Style | null;
  readonly align?: 'right';
  /** May be shown in part where the terminal is narrow. */
  readonly shrinks?: true;
}

const GAP = 2;
const NARROWEST = 6;

/** Of the terminal; where the output goes elsewhere there is no limit. */
const terminalWidth = (): number => (process.stdout.isTTY ? (process.stdout.columns ?? Infinity) : Infinity);

/** Lines of a table: columns as wide as their widest cell, as far as `width` allows, two spaces between, nothing after the last. */
export function toTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  paint: Paint,
  width = terminalWidth(),
): string[] {
  const whole = rows.map((row) => columns.map((column) => toPlainText(column.cell(row))));
  const wanted = columns.map(({ title }, index) =>
    Math.max(title.length, ...whole.map((line) => widthOf(line[index] ?? ''))),
  );
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

/** Takes from the widest column that shrinks until all fit, or none can shrink further. */
function fitWidths(columns: readonly Column<never>[], wanted: readonly number[], width: number): number[] {
  const widths = [...wanted];
  const total = () => widths.reduce((sum, each) => sum + each, 0) + GAP * (widths.length - 1);
  while (total() > width) {
    const shrinking = widths.map((each, at) => (columns[at]?.shrinks && each > NARROWEST ? each : 0));
    const widest = shrinking.indexOf(Math.max(...shrinking));
    if (!shrinking[widest]) break;
    widths[widest]! -= 1;
  }
  return widths;
}

/** `name  value` lines. */
export function toFields(
  fields: readonly (readonly [name: string, value: string])[],
  paint: Paint,
): string[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) =>
    `${paint('dim', name.padEnd(width))}  ${toPlainText(value)}`.trimEnd(),
  );
}

/** Removes control characters, those of the writing direction too: text of other users must not control the terminal. */
export function toPlainText(text: string): string {
  return withoutDirection(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
}

/** They would show the characters of a line in another order. */
export function withoutDirection(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
}
