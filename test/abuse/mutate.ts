import fc from 'fast-check';

type Json = unknown;

export interface Mutation {
  readonly how: 'drop' | 'replace' | 'add' | 'nest' | 'repeat' | 'rename';
  /** Which place of the value, counted around. */
  readonly at: number;
  readonly odd: Json;
}

const deep = (levels: number): Json => (levels === 0 ? 0 : { a: [deep(levels - 1)] });

/** What nobody expects in any place. */
export const ODD_VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  '',
  ' ',
  'NaN',
  'Infinity',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '💥',
  '\u202e',
  '\r\n',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "'; drop table jobs; --",
  '%00',
  '${HOME}',
  '{{a}}',
  'x'.repeat(5_000),
  'ü'.repeat(40_000),
  '1e400',
  '0x10',
  '-0',
  '1'.repeat(400),
  [],
  {},
  [[]],
  [null],
  [{}],
  deep(5),
  deep(40),
  Array(1000).fill(0),
  JSON.parse('{"__proto__":{"a":1}}'),
  { toString: 1, valueOf: null, hasOwnProperty: 'x', then: 1, length: -1, toJSON: 'x' },
];

export function mutations(odd: readonly Json[] = ODD_VALUES): fc.Arbitrary<Mutation[]> {
  const one = fc.record({
    how: fc.constantFrom<Mutation['how']>('drop', 'replace', 'replace', 'add', 'nest', 'repeat', 'rename'),
    at: fc.nat(10_000),
    odd: fc.constantFrom(...odd),
  });
  return fc.array(one, { maxLength: 3 });
}

/** The value with that done to it; the given one stays as it is. */
export function mutate(value: Json, all: readonly Mutation[]): Json {
  return all.reduce((before, mutation) => apply(structuredClone(before), mutation), value);
}

interface Place {
  readonly owner: Record<string, Json> | null;
  readonly key: string;
}

function apply(value: Json, { how, at, odd }: Mutation): Json {
  const places = [{ owner: null, key: '' }, ...placesIn(value)];
  const { owner, key } = places[at % places.length]!;
  if (owner === null) return how === 'replace' ? odd : value;
  const there = owner[key];
  if (how === 'drop') Reflect.deleteProperty(owner, key);
  else if (how === 'replace') owner[key] = odd;
  else if (how === 'add') owner[typeof odd === 'string' ? odd.slice(0, 100) : 'no_such'] = odd;
  else if (how === 'nest') owner[key] = { [key]: [there] };
  else if (how === 'repeat') owner[key] = Array(50).fill(there);
  else {
    Reflect.deleteProperty(owner, key);
    owner[`${key}_`] = there;
  }
  return value;
}

const MOST_PLACES = 500;

function placesIn(value: Json): Place[] {
  const places: Place[] = [];
  const queue = [value];
  for (const each of queue) {
    if (typeof each !== 'object' || each === null || places.length > MOST_PLACES) continue;
    for (const key of Object.keys(each)) {
      places.push({ owner: each as Record<string, Json>, key });
      queue.push((each as Record<string, Json>)[key]);
    }
  }
  return places;
}
