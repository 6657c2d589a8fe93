import type { AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv';
import type { Issue } from '@svc/contract';
import { MAX_LISTED, type Mistakes } from './errors.js';
import { describe, describeUnknown, joinPath, toMessage, toPath } from './wording.js';

/** Compile a schema or a part of one. `quick` stops at the first error, `thorough` finds all. */
export interface Validators {
  quick(schema: AnySchemaObject): ValidateFunction;
  thorough(schema: AnySchemaObject): ValidateFunction;
}

type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with a value that the schema refuses. Each part is validated once per level of its depth. */
export function explain(schema: AnySchemaObject, value: unknown, validators: Validators): Mistakes {
  const explainer = new Explainer(validators);
  explainer.visit(schema, value, '');
  const { listed, more } = explainer;
  return more > 0 ? Object.assign(listed, { more }) : listed;
}

class Explainer {
  readonly listed: Issue[] = [];
  more = 0;

  constructor(private readonly validators: Validators) {}

  /** Adds the errors of the value. */
  visit(schema: AnySchemaObject, value: unknown, path: string): void {
    const isValid = this.validators.quick(schema);
    if (isValid(value)) return;
    const [first] = isValid.errors as ErrorObject[];
    const before = this.#count;
    if (schema['anyOf']) this.#visitUnion(schema, value, path);
    else if (!isContainer(value)) this.#visitSingle(schema, value, path);
    else if (Array.isArray(value)) this.#visitItems(schema, value, path);
    else this.#visitFields(schema, value, path);
    if (this.#count === before) this.#addError(first as ErrorObject, path);
  }

  get #count(): number {
    return this.listed.length + this.more;
  }

  /** Adds the errors within the alternatives that were probably meant, or one error if there is no such alternative. */
  #visitUnion(schema: AnySchemaObject, value: unknown, path: string): void {
    const alternatives = schema['anyOf'] as AnySchemaObject[];
    const meant = alternatives.filter((alternative) => isMeant(alternative, value));
    for (const alternative of meant) this.visit(alternative, value, path);
    if (meant.length === 0) this.#add(path, () => `must be ${describe(schema)}`);
  }

  #visitSingle(schema: AnySchemaObject, value: unknown, path: string): void {
    const validate = this.validators.thorough(schema);
    if (this.#isFull) return void (this.more += 1);
    if (validate(value)) return;
    const errors = validate.errors ?? [];
    // A text that is too short is seldom of the right form, which says nothing more.
    const tooShort = errors.find(({ keyword }) => keyword === 'minLength');
    for (const error of tooShort ? [tooShort] : errors) this.#addError(error, path);
  }

  #visitItems(schema: AnySchemaObject, value: readonly unknown[], path: string): void {
    if (!isOf(schema, 'array')) return;
    const { minItems = 0, maxItems = Infinity, items } = schema as { minItems?: number; maxItems?: number; items?: AnySchemaObject }; // prettier-ignore
    if (value.length < minItems || value.length > maxItems) return;
    if (isContainer(items)) value.forEach((item, index) => this.visit(items, item, joinPath(path, index)));
  }

  #visitFields(schema: AnySchemaObject, value: object, path: string): void {
    if (!isOf(schema, 'object')) return;
    const fields = value as Fields;
    const { required = [], properties = {}, maxProperties = Infinity } = schema as { required?: string[]; properties?: object; maxProperties?: number }; // prettier-ignore
    if (Object.keys(fields).length > maxProperties) return;
    const schemaOf = toSchemaOf(schema);
    const unnamed: string[] = [];
    for (const name of required) if (fields[name] === undefined) this.#add(path, () => 'is required', name);
    for (const name of Object.keys(fields)) {
      if (Object.hasOwn(properties, name)) continue;
      if (schemaOf(name) !== false) unnamed.push(name);
      else if (this.#isFull) this.more += 1;
      else this.#add(path, () => describeUnknown(name, schema), name);
    }
    const named = Object.keys(properties).filter((name) => fields[name] !== undefined);
    for (const name of [...named, ...unnamed]) {
      const inner = schemaOf(name);
      if (isContainer(inner)) this.visit(inner, fields[name], joinPath(path, name));
    }
  }

  #addError(error: ErrorObject, path: string): void {
    if (this.#isFull) this.more += 1;
    else this.#add(toPath(error, path), () => toMessage(error));
  }

  /** Creates the message only if it is listed, and lists each one once. */
  #add(path: string, toWords: () => string, field?: string): void {
    if (this.#isFull) return void (this.more += 1);
    const issue = { path: field === undefined ? path : joinPath(path, field), message: toWords() };
    const isListed = this.listed.some(
      (other) => other.path === issue.path && other.message === issue.message,
    );
    if (!isListed) this.listed.push(issue);
  }

  get #isFull(): boolean {
    return this.listed.length === MAX_LISTED;
  }
}

/** An alternative was not meant when its type or one of its constants differs from the value. */
function isMeant(alternative: AnySchemaObject, value: unknown): boolean {
  const { type, properties = {} } = alternative as { type?: string; properties?: Record<string, Fields> };
  if ('anyOf' in alternative || 'enum' in alternative || 'const' in alternative) return false;
  if (type !== undefined && !typesOf(value).includes(type)) return false;
  const constants = Object.entries(properties).filter(([, schema]) => 'const' in schema);
  const given = isContainer(value) ? (value as Fields) : {};
  return constants.every(([name, schema]) => [undefined, schema['const']].includes(given[name]));
}

/** Returns the schema of a field, `false` when the name is not allowed, otherwise undefined. */
function toSchemaOf(schema: AnySchemaObject): (field: string) => AnySchemaObject | boolean | undefined {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema as Record<string, Record<string, AnySchemaObject> | undefined>; // prettier-ignore
  const patterns = Object.entries(patternProperties).map(([pattern, inner]) => ({
    pattern: new RegExp(pattern, 'u'),
    inner,
  }));
  return (field) => {
    if (Object.hasOwn(properties, field)) return properties[field];
    return patterns.find(({ pattern }) => pattern.test(field))?.inner ?? additionalProperties;
  };
}

function isOf({ type }: AnySchemaObject, wanted: string): boolean {
  return type === undefined || [type as string | string[]].flat().includes(wanted);
}

/** The JSON Schema types of a value. */
function typesOf(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  // A number past what a double holds is Infinity once it is parsed.
  if (typeof value === 'number' && !Number.isFinite(value)) return [];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
