/** A value that the schema refuses, made by one change to one that it takes. */
export interface Fault {
  readonly label: string;
  /** Where the answer must point, as in `points[0].seq`. */
  readonly path: string;
  readonly value: unknown;
}

/** What of JSON Schema the contract uses. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Every fault of one field at a time: missing, wrong type, out of range, oversized, malformed, unknown. */
export function faultsOf(schema: object, valid: unknown, path = ''): Fault[] {
  const known = schema as Schema;
  const own = [...wrongTypes(known, path), ...outOfRange(known, valid, path)];
  return [...own, ...faultsOfFields(known, valid, path), ...faultsOfItems(known, valid, path)];
}

const SAMPLES: readonly (readonly [type: string, value: unknown])[] = [
  ['string', 'text'],
  ['number', 1.5],
  ['boolean', true],
  ['object', { a: 1 }],
  ['array', ['a']],
  ['null', null],
];

function wrongTypes(schema: Schema, path: string): Fault[] {
  const taken = typesOf(schema);
  if (taken.size === 0) return [];
  const wrong = SAMPLES.filter(([type]) => !taken.has(type));
  return wrong.map(([type, value]) => ({ label: `${type} for ${[...taken].join(' or ')}`, path, value }));
}

/** An integer is no number here: 1.5 is of the wrong type. */
function typesOf({ type, enum: words, anyOf }: Schema): Set<string> {
  if (anyOf) return new Set(anyOf.flatMap((option) => [...typesOf(option)]));
  if (words) return new Set(words.map((word) => (word === null ? 'null' : typeof word)));
  return new Set(type === undefined ? [] : [type]);
}

function outOfRange(schema: Schema, valid: unknown, path: string): Fault[] {
  const { enum: words, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema;
  const [item] = Array.isArray(valid) ? (valid as unknown[]) : [];
  const faults: (Omit<Fault, 'path'> | false | undefined)[] = [
    words && { label: 'not one of the words', value: 'no-such-word' },
    minimum !== undefined &&
      minimum > Number.MIN_SAFE_INTEGER && { label: 'below the minimum', value: minimum - 1 },
    maximum !== undefined &&
      maximum < Number.MAX_SAFE_INTEGER && { label: 'above the maximum', value: maximum + 1 },
    minLength !== undefined && minLength > 0 && { label: 'empty', value: '' },
    maxLength !== undefined && { label: 'too long', value: `/${'x'.repeat(maxLength)}` },
    pattern !== undefined && { label: 'NUL', value: 'a\u0000b' },
    minItems !== undefined && minItems > 0 && { label: 'no items', value: [] },
    maxItems !== undefined && {
      label: 'too many items',
      value: Array.from({ length: maxItems + 1 }, () => item ?? 'a'),
    },
  ];
  return faults.filter((fault) => typeof fault === 'object').map((fault) => ({ ...fault, path }));
}

function faultsOfFields(schema: Schema, valid: unknown, path: string): Fault[] {
  if (!isObject(valid) || !schema.properties) return [];
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const missing = (schema.required ?? []).map((name) => {
    const { [name]: _left, ...rest } = valid;
    return { label: 'missing', path: at(name), value: rest };
  });
  const extra = schema.additionalProperties === false && {
    label: 'unknown field',
    path: at('no_such_field'),
    value: { ...valid, no_such_field: 1 },
  };
  const inside = Object.entries(schema.properties).flatMap(([name, field]) =>
    faultsOf(field, valid[name], at(name)).map((fault) => ({
      ...fault,
      value: { ...valid, [name]: fault.value },
    })),
  );
  return [...missing, ...(extra ? [extra] : []), ...inside];
}

function faultsOfItems({ items }: Schema, valid: unknown, path: string): Fault[] {
  if (!items || !Array.isArray(valid) || valid.length === 0) return [];
  const [first, ...rest] = valid as unknown[];
  return faultsOf(items, first, `${path}[0]`).map((fault) => ({ ...fault, value: [fault.value, ...rest] }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Query strings that the schema of the parameters refuses, each with the parameter that the answer must name. */
export function queryFaultsOf(schema: object | undefined): Fault[] {
  const parameters = Object.entries((schema as Schema | undefined)?.properties ?? {});
  const unknown = { label: 'unknown parameter', path: 'no_such_parameter', value: 'no_such_parameter=1' };
  return [unknown, ...parameters.flatMap(([name, field]) => faultsOfParameter(name, field))];
}

function faultsOfParameter(name: string, field: Schema): Fault[] {
  const isNumeric = field.type === 'integer' || field.type === 'number';
  const words = isNumeric ? ['many', '', '1e', '0x10', ...(field.type === 'integer' ? ['1.5'] : [])] : [];
  const ranges = outOfRange(field, undefined, name).filter(({ label }) => label !== 'NUL');
  return [
    ...words.map((word) => ({ label: `"${word}" for a number`, path: name, value: `${name}=${word}` })),
    ...ranges.map(({ label, value }) => ({
      label,
      path: name,
      value: `${name}=${encodeURIComponent(String(value))}`,
    })),
  ];
}
