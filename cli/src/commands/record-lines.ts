import { cutToWidth } from '../output/text-width.js';
import type { Paint } from '../output/style.js';
import { toFields, toPlainText } from '../output/table.js';

const VALUE_WIDTH = 120;
const NAME_WIDTH = 60;
const MAX_DEPTH = 6;

/** A config or an environment: a line for each value, nested names joined by dots, at most `shown` of them. No lines for an empty one. */
export function toRecordLines(
  title: string,
  record: Readonly<Record<string, unknown>>,
  { shown, whole, paint, width }: { shown: number; whole: string; paint: Paint; width: number },
): string[] {
  const entries = flatten(record);
  if (entries.length === 0) return [];
  const fields = entries
    .slice(0, shown)
    .map(([name, value]) => [cutToWidth(toPlainText(name), NAME_WIDTH), toText(value), 'cut'] as const);
  const left = entries.length - fields.length;
  return [
    '',
    paint('bold', title),
    ...toFields(fields, paint, width),
    ...(left > 0 ? [paint('dim', `... and ${left} more, which ${whole} shows`)] : []),
  ];
}

function toText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return cutToWidth(text.slice(0, 4 * VALUE_WIDTH), VALUE_WIDTH);
}

function flatten(
  record: Readonly<Record<string, unknown>>,
  prefix = '',
  depth = 1,
): (readonly [name: string, value: unknown])[] {
  return Object.entries(record).flatMap(([key, value]) => {
    const name = prefix + key;
    const isNested = isRecord(value) && Object.keys(value).length > 0 && depth < MAX_DEPTH;
    return isNested ? flatten(value, `${name}.`, depth + 1) : [[name, value] as const];
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
