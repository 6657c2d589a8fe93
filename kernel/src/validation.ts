import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Issue } from '@svc/contract';
import type { TSchema } from 'typebox';
import { didYouMean } from './did-you-mean.js';

/** Checks a value and says what is wrong with it, in plain words; an empty list: nothing. Fills in defaults in place. */
export type Check = (value: unknown) => readonly Issue[];

const MAX_ISSUES = 20;
const ajvByDefaults = { fill: createAjv(true), leave: createAjv(false) };

/** `defaults: 'leave'` for partial updates, where what is left out must stay as it was. */
export function compileCheck(schema: TSchema, defaults: 'fill' | 'leave' = 'fill'): Check {
  const validate: ValidateFunction = ajvByDefaults[defaults].compile(schema as AnySchemaObject);
  return (value) => (validate(value) ? [] : toIssues(validate.errors ?? []));
}

function createAjv(useDefaults: boolean): Ajv {
  // One schema with an $id may be part of many; strictTypes would refuse what TypeBox writes for enums and unions.
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    useDefaults,
    addUsedSchema: false,
    strictTypes: false,
  });
  addFormats.default(ajv);
  return ajv;
}

function toIssues(errors: readonly ErrorObject[]): Issue[] {
  const unique = new Map<string, Issue>();
  for (const error of errors.filter((candidate) => !isBesidesThePoint(candidate, errors))) {
    const issue = { path: toPath(error), message: toMessage(error) };
    unique.set(`${issue.path}\n${issue.message}`, issue);
    if (unique.size === MAX_ISSUES) break;
  }
  return [...unique.values()];
}

/**
 * Of a union, either it is told what is wrong within the alternatives that were meant, or that none of them fits.
 * An alternative was not meant when the value is of another type, or one of its constants differs.
 */
function isBesidesThePoint(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  const branchesOf = (union: ErrorObject) =>
    ((union.schema as AnySchemaObject[]) ?? []).map((_, index) => `${union.schemaPath}/${index}/`);
  const isMeant = (union: ErrorObject, branch: string) =>
    !errors.some(
      ({ schemaPath, keyword, instancePath }) =>
        schemaPath.startsWith(branch) &&
        (keyword === 'const' || (MISMATCHES.has(keyword) && instancePath === union.instancePath)),
    );
  if (error.keyword === 'anyOf') return branchesOf(error).some((branch) => isMeant(error, branch));
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
  return unions.some((union) =>
    branchesOf(union).some((branch) => error.schemaPath.startsWith(branch) && !isMeant(union, branch)),
  );
}

const MISMATCHES = new Set(['type', 'enum', 'anyOf']);

/** `/points/3/value` becomes `points[3].value`. */
function toPath({ instancePath, params, keyword }: ErrorObject): string {
  const parts = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') parts.push(params['missingProperty'] as string);
  if (keyword === 'additionalProperties') parts.push(params['additionalProperty'] as string);
  return parts.reduce((path, part) => {
    if (/^\d+$/.test(part)) return `${path}[${part}]`;
    return path === '' ? part : `${path}.${part}`;
  }, '');
}

const MESSAGES: Record<string, (params: Record<string, unknown>, error: ErrorObject) => string> = {
  required: () => 'is required',
  additionalProperties: ({ additionalProperty }, { parentSchema }) =>
    toUnknownField(String(additionalProperty), parentSchema),
  type: (_, { parentSchema, data }) => `must be ${describe(parentSchema ?? {})}, not ${typeName(data)}`,
  enum: (_, { parentSchema }) => `must be ${describe(parentSchema ?? {})}`,
  const: (_, { parentSchema }) => `must be ${describe(parentSchema ?? {})}`,
  anyOf: (_, { parentSchema }) => `must be ${describe(parentSchema ?? {})}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`,
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minItems: ({ limit }) => `must have at least ${count(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${count(limit, 'item')}`,
  uniqueItems: () => 'must not have an item twice',
  pattern: ({ pattern }, { parentSchema }) =>
    typeof parentSchema?.['description'] === 'string'
      ? `is malformed: ${parentSchema['description']}`
      : `is malformed: it must match ${String(pattern)}`,
};

function toMessage(error: ErrorObject): string {
  return (
    MESSAGES[error.keyword]?.(error.params as Record<string, unknown>, error) ?? error.message ?? 'is refused'
  );
}

function toUnknownField(field: string, schema: AnySchemaObject | undefined): string {
  const known = Object.keys((schema?.['properties'] as object | undefined) ?? {});
  const guess = didYouMean(field, known);
  const patterns = Object.keys((schema?.['patternProperties'] as object | undefined) ?? {});
  if (patterns.length > 0) return `is no allowed name: it must match ${patterns.join(' or ')}`;
  return `unknown field${guess || (known.length > 0 ? `; there are ${known.join(', ')}` : '; none is taken')}`;
}

/** A schema in words: `an integer`, `one of TRAIN, EVALUATE`, `a string or null`. */
function describe(schema: AnySchemaObject): string {
  if (typeof schema['title'] === 'string') return schema['title'];
  const values = (schema['enum'] ?? ('const' in schema ? [schema['const']] : undefined)) as
    unknown[] | undefined;
  if (values)
    return values.length === 1 ? JSON.stringify(values[0]) : `one of ${values.map(String).join(', ')}`;
  const alternatives = (schema['anyOf'] ?? schema['oneOf']) as AnySchemaObject[] | undefined;
  if (alternatives) return [...new Set(alternatives.map(describe))].join(' or ');
  return [schema['type'] as string | string[]].flat().map(withArticle).join(' or ');
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return withArticle(Array.isArray(value) ? 'array' : typeof value);
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

function count(limit: unknown, noun: string): string {
  return `${String(limit)} ${noun}${limit === 1 ? '' : 's'}`;
}
