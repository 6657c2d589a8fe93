import type { Runner } from './runners.js';

/**
 * How an option of a runner is typed. `list`: one text on each line. `choice`: one of `choices`. `json`: whatever has no simpler
 * form, as JSON.
 */
export type OptionKind = 'text' | 'number' | 'switch' | 'choice' | 'list' | 'json';

export interface OptionField {
  readonly name: string;
  readonly kind: OptionKind;
  readonly isRequired: boolean;
  readonly description: string;
  /** Of a choice. */
  readonly choices: readonly string[];
  readonly isWhole: boolean;
}

/** What is typed into the fields, by the names of the options. */
export type OptionTexts = Readonly<Record<string, string>>;

interface Schema {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly description?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** The fields of a runner, as its schema names them: those that it needs come first. */
export function toOptionFields({ options_schema }: Runner): OptionField[] {
  const { properties = {}, required = [] } = options_schema as Schema;
  const fields = Object.entries(properties).map(([name, schema]) =>
    toField(name, schema, required.includes(name)),
  );
  return [
    ...fields.filter(({ isRequired }) => isRequired),
    ...fields.filter(({ isRequired }) => !isRequired),
  ];
}

/** The runner takes options that its schema does not name. */
export function takesFurther({ options_schema }: Runner): boolean {
  return (options_schema as Schema).additionalProperties !== false;
}

function toField(name: string, schema: Schema, isRequired: boolean): OptionField {
  const isChoice = schema.enum?.every((one) => typeof one === 'string') ?? false;
  return {
    name,
    kind: isChoice ? 'choice' : toKind(schema),
    isRequired,
    description: typeof schema.description === 'string' ? schema.description : '',
    choices: isChoice ? (schema.enum as string[]) : [],
    isWhole: schema.type === 'integer',
  };
}

function toKind({ type, items }: Schema): OptionKind {
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'switch';
  return type === 'array' && items?.type === 'string' ? 'list' : 'json';
}

/** The value that a text stands for; undefined: the option is left out. Throws what is wrong with the text, in words. */
export function parseOption({ kind, isWhole }: OptionField, text: string): unknown {
  if (text.trim() === '') return undefined;
  if (kind === 'text' || kind === 'choice') return text;
  if (kind === 'switch') return text === 'true';
  if (kind === 'json' || (kind === 'list' && text.trimStart().startsWith('['))) return parseJson(text);
  if (kind === 'list') return text.split('\n').flatMap((line) => line.trim() || []);
  const number = Number(text);
  if (Number.isNaN(number) || (isWhole && !Number.isInteger(number)))
    throw new Error(`must be a ${isWhole ? 'whole ' : ''}number`);
  return number;
}

/** The text that stands for a value; the other way of `parseOption`. */
export function toOptionText({ kind }: OptionField, value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && kind !== 'json') return value;
  const isPlainList =
    kind === 'list' &&
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(isPlainLine) &&
    !/^\s*\[/.test(String(value[0]));
  return isPlainList ? value.join('\n') : JSON.stringify(value);
}

function isPlainLine(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value === value.trim() && !value.includes('\n');
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('must be JSON');
  }
}
