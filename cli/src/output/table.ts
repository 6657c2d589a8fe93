import type { Paint, Style } from './style.js';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly style?: (row: Row) => Style | null;
  readonly align?: 'right';
}

/** Lines of a table: columns as wide as their widest cell, two spaces between, nothing after the last. */
export function toTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], paint: Paint): string[] {
  const cells = rows.map((row) => columns.map((column) => toPlainText(column.cell(row))));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => [...(line[index] ?? '')].length)),
  );
  const pad = (text: string, index: number): string => {
    const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - [...text].length));
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

/** Removes control characters: text of other users must not control the terminal. */
export function toPlainText(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}
