import fc from 'fast-check';

/** What of JSON Schema the contract uses. */
export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
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
  readonly exclusiveMinimum?: number;
}

type Values = fc.Arbitrary<unknown>;
/** By name of a field, where any value of the schema would nearly never be one that exists. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

const MOST_ITEMS = 5;

/** Values that the schema takes. */
export function valuesOf(schema: Schema, known: Known = {}): Values {
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((option) => valuesOf(option, known)));
  switch (schema.type) {
    case 'string':
      return texts(schema);
    case 'integer':
      return fc.oneof(fc.integer(bounds(schema, 1000)), fc.maxSafeInteger().map(within(schema)));
    case 'number':
      return fc.double({ min: schema.minimum ?? 0.001, max: schema.maximum ?? 1e300, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return lists(schema, known);
    case 'object':
      return objects(schema, known);
    default:
      return fc.jsonValue();
  }
}

function bounds({ minimum = -1000, maximum = Number.MAX_SAFE_INTEGER }: Schema, width: number) {
  return { min: minimum, max: Math.min(maximum, minimum + 2 * width) };
}

function within({ minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }: Schema) {
  return (value: number): number => Math.min(maximum, Math.max(minimum, value));
}

const SHA256 = 'ab12'.repeat(16);
const WORDS = ['a', 'loss', '/out/checkpoint-1', 'A_1', 'ü💥 b', '%s"\'<b>', 'Z', SHA256] as const;

function texts({ minLength = 0, maxLength = 300, pattern = '' }: Schema): fc.Arbitrary<string> {
  const expression = new RegExp(pattern, 'u');
  const isTaken = (text: string): boolean =>
    text.length >= minLength && text.length <= maxLength && expression.test(text);
  const long = ['x', '/'].map((start) => start.padEnd(Math.min(maxLength, 20_000), 'x'));
  const good = [...WORDS, '', ...long].filter(isTaken);
  const any = fc.string({ unit: 'grapheme', maxLength: Math.min(maxLength, 40) });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...good) },
    any.map((text) => (isTaken(text) ? text : good[0]!)),
  );
}

function lists(
  { items = {}, minItems = 0, maxItems = MOST_ITEMS, uniqueItems }: Schema,
  known: Known,
): Values {
  const size = { minLength: minItems, maxLength: Math.min(maxItems, Math.max(minItems, MOST_ITEMS)) };
  return uniqueItems === true
    ? fc.uniqueArray(valuesOf(items, known), size)
    : fc.array(valuesOf(items, known), size);
}

function objects(schema: Schema, known: Known): Values {
  const { properties = {}, required = [], patternProperties, additionalProperties } = schema;
  if (patternProperties) {
    const [[pattern, value] = ['', {}]] = Object.entries(patternProperties);
    return fc.dictionary(texts({ pattern, minLength: 1, maxLength: 50 }), valuesOf(value, known), {
      maxKeys: MOST_ITEMS,
    });
  }
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, fieldOf(name, field, known)]),
  );
  const own = fc.record(model, { requiredKeys: [...required], noNullPrototype: true });
  if (additionalProperties !== true) return own;
  const more = fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 5 }), {
    maxKeys: MOST_ITEMS,
    noNullPrototype: true,
  });
  return fc.tuple(more, own).map(([free, fields]) => ({ ...free, ...fields }));
}

function fieldOf(name: string, field: Schema, known: Known): Values {
  const values = valuesOf(field, known);
  const [...there] = known[name] ?? [];
  return there.length === 0 ? values : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...there) }, values);
}
