import type { AnySchemaObject, ErrorObject } from 'ajv';
import { didYouMean } from './did-you-mean.js';
import { countCharacters } from './text-length.js';

const MAX_NAME_CHARS = 100;
/** Counting the characters of a text of 16 MiB takes a quarter of a second. */
const MOST_COUNTED = 100_000;

/** A field name for messages: long ones are cut, as a client may send any name. */
export function toName(field: string): string {
  return field.length > MAX_NAME_CHARS ? `${field.slice(0, MAX_NAME_CHARS)}…` : field;
}

/** `points` and `3` make `points[3]`, that and `value` make `points[3].value`. */
export function joinPath(path: string, part: string | number): string {
  if (typeof part === 'number' || /^\d+$/.test(part)) return `${path}[${toName(String(part))}]`;
  return path === '' ? toName(part) : `${path}.${toName(part)}`;
}

/** The path of an error in the checked value. */
export function toPath({ instancePath, params }: ErrorObject, above: string): string {
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  const parts = instancePath.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return [...parts.slice(1), missingProperty ?? additionalProperty ?? []].flat().reduce(joinPath, above);
}

type Words = (
  params: { limit: number; pattern: string; additionalProperty: string },
  schema: AnySchemaObject,
  value: unknown,
) => string;

const needed: Words = (_, schema) => `must be ${describe(schema)}`;
const WORDS: Readonly<Record<string, Words>> = {
  required: () => 'is required',
  additionalProperties: ({ additionalProperty }, schema) => describeUnknown(additionalProperty, schema),
  type: (params, schema, value) => `${needed(params, schema, value)}, not ${describeType(value)}`,
  enum: needed,
  const: needed,
  anyOf: needed,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }, _, value) =>
    `must have at most ${limit} characters, not ${describeLength(value as string)}`,
  minItems: ({ limit }) => `must have at least ${limit} item${limit === 1 ? '' : 's'}`,
  maxItems: ({ limit }) => `must have at most ${limit} item${limit === 1 ? '' : 's'}`,
  maxProperties: ({ limit }) => `must have at most ${limit} ${limit === 1 ? 'entry' : 'entries'}`,
  uniqueItems: () => 'must not have an item twice',
  pattern: (_, { description }) => `is malformed${description === undefined ? '' : `: ${description}`}`,
};

export function toMessage({ keyword, params, parentSchema = {}, data, message }: ErrorObject): string {
  return WORDS[keyword]?.(params as Parameters<Words>[0], parentSchema, data) ?? message ?? 'is refused';
}

export function describeUnknown(
  field: string,
  { properties = {}, patternProperties = {}, description }: AnySchemaObject,
): string {
  const known = Object.keys(properties as object);
  const patterns = Object.keys(patternProperties as object);
  if (patterns.length > 0)
    return `is no allowed name${description === undefined ? '' : `: ${String(description)}`}`;
  return `unknown field${didYouMean(toName(field), known) || `; there ${known.length > 0 ? `are ${known.join(', ')}` : 'are none'}`}`;
}

/** A schema in words: `an integer`, `one of TRAIN, EVALUATE`, `a string or null`. */
export function describe(schema: AnySchemaObject): string {
  const { title, type, anyOf } = schema as {
    title?: string;
    type?: string | string[];
    anyOf?: AnySchemaObject[];
  };
  const values = ('const' in schema ? [schema['const']] : schema['enum']) as unknown[] | undefined;
  if (title !== undefined) return title;
  if (values) return values.length === 1 ? JSON.stringify(values[0]) : `one of ${values.join(', ')}`;
  const alternatives = anyOf?.map(describe) ?? [type ?? 'something else'].flat().map(withArticle);
  return [...new Set(alternatives)].join(' or ');
}

const describeLength = (text: string): string =>
  text.length > 2 * MOST_COUNTED ? `over ${MOST_COUNTED}` : String(countCharacters(text));

const describeType = (value: unknown): string =>
  withArticle(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const withArticle = (type: string): string =>
  type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
