import { Ajv, type AnySchemaObject, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { Issue } from '@svc/contract';
import type { TSchema } from 'typebox';
import { didYouMean } from './did-you-mean.js';
import { failValidation } from './errors.js';

/** What is wrong with a value, in plain words; an empty list: nothing. Fills in defaults in place. */
export type Check = (value: unknown) => readonly Issue[];

export const MAX_DEPTH = 64;
const MAX_ISSUES = 20;
// One schema with an $id may be part of many; strictTypes would refuse what TypeBox writes for enums and unions.
const settings = { allErrors: true, verbose: true, addUsedSchema: false, strictTypes: false } as const;
const ajv = { fill: new Ajv({ ...settings, useDefaults: true }), leave: new Ajv(settings) };
Object.values(ajv).forEach((each) => addFormats.default(each));

/** `defaults: 'leave'` for partial updates, where what is left out must stay as it was. */
export function compileCheck(schema: TSchema, defaults: 'fill' | 'leave' = 'fill'): Check {
  const validate = ajv[defaults].compile(schema as AnySchemaObject);
  return (value) => (validate(value) ? [] : toIssues(validate.errors ?? []));
}

/** Throws validation_error for a value whose JSON text is larger, in bytes of UTF-8. */
export function refuseLargeJson(path: string, value: unknown, maxBytes: number): void {
  const sizeBytes = Buffer.byteLength(JSON.stringify(value));
  if (sizeBytes > maxBytes)
    failValidation({ path, message: `must be at most ${maxBytes} bytes of JSON, not ${sizeBytes}` });
}

/** Deeper ones would overflow the stack of whoever checks or writes them later. */
export function isTooDeep(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}

function toIssues(errors: readonly ErrorObject[]): Issue[] {
  const telling = withoutAlternatives(errors).map((error) => ({
    path: toPath(error),
    message: toMessage(error),
  }));
  return [...new Map(telling.map((issue) => [JSON.stringify(issue), issue])).values()].slice(0, MAX_ISSUES);
}

/**
 * Of a union, tells either what is wrong within the alternatives that were meant, or that none of them fits. One was
 * not meant when the value is of another type, or a constant of it differs.
 */
function withoutAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const silent = new Set<ErrorObject>();
  for (const union of errors.filter(({ keyword }) => keyword === 'anyOf')) {
    const alternatives = (union.schema as unknown[]).map((_, index) =>
      errors.filter(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/${index}/`)),
    );
    const isOther = ({ keyword, instancePath }: ErrorObject) =>
      keyword === 'const' || (/^(type|enum|anyOf)$/.test(keyword) && instancePath === union.instancePath);
    const unmeant = alternatives.filter((alternative) => alternative.some(isOther));
    if (unmeant.length < alternatives.length) silent.add(union);
    unmeant.flat().forEach((error) => silent.add(error));
  }
  return errors.filter((error) => !silent.has(error));
}

/** `/points/3/value` becomes `points[3].value`. */
function toPath({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  const parts = instancePath.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = [...parts, missingProperty ?? additionalProperty ?? []].flat().slice(1);
  return path
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
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
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} item${limit === 1 ? '' : 's'}`,
  maxItems: ({ limit }) => `must have at most ${limit} item${limit === 1 ? '' : 's'}`,
  uniqueItems: () => 'must not have an item twice',
  pattern: ({ pattern }, { description }) => `is malformed: ${description ?? `it must match ${pattern}`}`,
};

function toMessage({ keyword, params, parentSchema = {}, data, message }: ErrorObject): string {
  return WORDS[keyword]?.(params as Parameters<Words>[0], parentSchema, data) ?? message ?? 'is refused';
}

function describeUnknown(
  field: string,
  { properties = {}, patternProperties = {} }: AnySchemaObject,
): string {
  const known = Object.keys(properties as object);
  const patterns = Object.keys(patternProperties as object);
  if (patterns.length > 0) return `is no allowed name: it must match ${patterns.join(' or ')}`;
  return `unknown field${didYouMean(field, known) || `; there ${known.length > 0 ? `are ${known.join(', ')}` : 'are none'}`}`;
}

/** A schema in words: `an integer`, `one of TRAIN, EVALUATE`, `a string or null`. */
function describe(schema: AnySchemaObject): string {
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

const describeType = (value: unknown): string =>
  withArticle(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const withArticle = (type: string): string =>
  type === 'null' ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
