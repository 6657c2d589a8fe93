const flattened = new WeakMap<object, ReadonlyMap<string, unknown>>();

/** The entries of a JSON object by their dotted names; lists and empty objects are values. */
export function flatRecord(record: object): ReadonlyMap<string, unknown> {
  const known = flattened.get(record);
  if (known) return known;
  const flat = new Map(flatten(record as Record<string, unknown>, ''));
  flattened.set(record, flat);
  return flat;
}

/** A text as it is, everything else as JSON. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function flatten(value: Readonly<Record<string, unknown>>, prefix: string): [string, unknown][] {
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] =>
    isObject(inner) && Object.keys(inner).length > 0
      ? flatten(inner, `${prefix}${name}.`)
      : [[prefix + name, inner]],
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
