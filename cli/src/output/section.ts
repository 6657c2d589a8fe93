import type { Paint } from './style.js';
import { toPlainText } from './table.js';

/** Lines under a title; nothing where there are none. */
export function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length === 0
    ? []
    : ['', paint('bold', title), ...lines.map((line) => `  ${toPlainText(line)}`)];
}
