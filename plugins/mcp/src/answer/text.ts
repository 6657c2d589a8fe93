import type { NextActionRecord } from '@svc/contract';

/** Fields whose words svc chose: ids and states. Every other text was written by somebody, and is quoted as data. */
const OWN_FIELD =
  /^(?:(?:\w+_)?ids?|status|state|type|severity|stream|trend|direction|(?:best_)?source|level|result|failure_reason)$/;
/** Also of metrics and labels: a name is no sentence. */
const NAME_OF_FIELD = /^[a-z][a-z0-9_./-]{0,63}$/;
const PLAIN_WORD = /^[A-Za-z0-9_./:@%+-]{1,64}$/;

/** The compact text form of a structured answer: a line for each field, and a table for each list of records. */
export function toText(answer: Readonly<Record<string, unknown>>): string {
  const { next_actions = [], left = 0, left_is_minimum, ...rest } = answer;
  const fields = { ...rest, ...(left !== 0 && { left: left_is_minimum ? `${String(left)}+` : left }) };
  const lines = [...toTopLines(fields), ...(next_actions as NextActionRecord[]).map(toActionLine)];
  return lines.join('\n');
}

export function toActionLine({ tool, args, reason }: NextActionRecord): string {
  return `next: ${tool} ${JSON.stringify(args)} (${JSON.stringify(reason)})`;
}

/** A row of a table; the text form of one item of a list. */
export function toRow(item: unknown, columns: readonly string[], name = ''): string {
  if (columns.length === 0) return toInline(name, item);
  const record = item as Record<string, unknown>;
  return columns.map((column) => toInline(column, record[column])).join(' | ');
}

/** The columns that a list of records has values in; none for a list of other things. */
export function columnsOf(items: readonly unknown[]): string[] {
  const columns = new Set<string>();
  for (const item of items) {
    if (item === null || typeof item !== 'object' || Array.isArray(item)) return [];
    for (const [name, value] of Object.entries(item)) if (!isEmpty(value)) columns.add(name);
  }
  return [...columns];
}

/** That a list has no items is an answer too. */
function toTopLines(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    Array.isArray(value) && value.length === 0 ? [`${name}: none`] : toField(name, value, ''),
  );
}

function toLines(fields: Readonly<Record<string, unknown>>, indent: string): string[] {
  return Object.entries(fields).flatMap(([name, value]) => toField(name, value, indent));
}

function toField(name: string, value: unknown, indent: string): string[] {
  if (isEmpty(value)) return [];
  const label = toLabel(name);
  if (Array.isArray(value) && value.some((item) => item !== null && typeof item === 'object'))
    return toTable(name, value, indent);
  if (isRecord(value) && !Array.isArray(value))
    return [`${indent}${label}:`, ...toLines(value, `${indent}  `)];
  return [`${indent}${label}: ${toInline(name, value)}`];
}

function toTable(name: string, items: readonly unknown[], indent: string): string[] {
  const columns = columnsOf(items);
  const head = columns.length === 0 ? '' : ` ${columns.map(toLabel).join(' | ')}`;
  return [
    `${indent}${toLabel(name)}:${head}`,
    ...items.map((item) => `${indent}- ${toRow(item, columns, name)}`),
  ];
}

function toLabel(name: string): string {
  return NAME_OF_FIELD.test(name) ? name : JSON.stringify(name);
}

function toInline(name: string, value: unknown): string {
  if (isEmpty(value)) return '-';
  if (typeof value === 'string')
    return OWN_FIELD.test(name) && PLAIN_WORD.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return value.map((item) => toInline(name, item)).join(' ');
  if (!isRecord(value)) return String(value);
  const given = Object.entries(value).filter(([, item]) => !isEmpty(item));
  return given.map(([field, item]) => `${toLabel(field)}=${toInline(field, item)}`).join(' ');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object';
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
