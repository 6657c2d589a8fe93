import { gzipSync } from 'node:zlib';

export interface HostileBody {
  readonly label: string;
  readonly body: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Bodies that no route takes, each as large as the limit lets it be. `field`: one that the route knows; `list`: one of its lists. */
export function hostileBodies(limitBytes: number, field: string, list: string): HostileBody[] {
  return [...tooMuch(limitBytes, field, list), ...malformed(limitBytes), ...strangeText(), ...strangeTypes()];
}

const MANY_NULLS = 10_000;

function tooMuch(limitBytes: number, field: string, list: string): HostileBody[] {
  const fill = (head: string, piece: string, tail: string): string => {
    const count = Math.floor((limitBytes - head.length - tail.length) / (piece.length + 1));
    return `${head}${`${piece},`.repeat(count - 1)}${piece}${tail}`;
  };
  const nested = (open: string, close: string): string => {
    const depth = Math.floor((limitBytes - 20) / (open.length + close.length));
    return `{"a":${open.repeat(depth)}0${close.repeat(depth)}}`;
  };
  const keys = Array.from({ length: Math.floor(limitBytes / 16) }, (_, at) => `"k${at}":0`);
  return [
    { label: 'one long text', body: `{"no_such":"${'x'.repeat(limitBytes - 14)}"}` },
    { label: 'a long text in a field', body: `{"${field}":"${'x'.repeat(limitBytes - field.length - 7)}"}` },
    { label: 'one byte over the limit', body: `{"a":"${'x'.repeat(limitBytes - 7)}"}` },
    { label: 'twice the limit', body: Buffer.alloc(2 * limitBytes, 'x') },
    { label: 'lists in lists', body: nested('[', ']') },
    { label: 'objects in objects', body: nested('{"a":', '}') },
    { label: 'zeros', body: fill('[', '0', ']') },
    { label: 'zeros in a field', body: fill(`{"${list}":[`, '0', ']}') },
    { label: 'empty objects in a field', body: fill(`{"${list}":[`, '{}', ']}') },
    { label: 'empty lists in a field', body: fill(`{"${list}":[`, '[]', ']}') },
    { label: 'unknown objects in a field', body: fill(`{"${list}":[`, '{"x":{"y":1}}', ']}') },
    { label: '10 000 nulls', body: `{"${list}":[${Array(MANY_NULLS).fill('null').join()}]}` },
    { label: 'unknown fields', body: `{${keys.join()}}` },
    { label: 'unknown fields within a field', body: `{"${field}":{${keys.slice(0, -2).join()}}}` },
    { label: 'the same field again and again', body: fill('{', `"${field}":1`, '}') },
    { label: 'one long number', body: `{"${field}":${'9'.repeat(limitBytes - field.length - 5)}}` },
    { label: 'blanks', body: ' '.repeat(limitBytes) },
  ];
}

function malformed(limitBytes: number): HostileBody[] {
  const long = Math.min(limitBytes, 1024 * 1024) - 20;
  return [
    { label: 'a mistake at the end of zeros', body: `[${'0,'.repeat(long / 2)}x]` },
    { label: 'a mistake at the end of a text', body: `{"a":"${'x'.repeat(long)}\n"}` },
    { label: 'a mistake at the end of line breaks', body: `{${'\n'.repeat(long)}x}` },
    { label: 'a text without its end', body: `"${'\\u0041'.repeat(long / 6)}` },
    { label: 'lists without their end', body: '['.repeat(long) },
    { label: 'two values', body: '{}{}' },
    { label: 'NUL bytes', body: Buffer.alloc(long) },
  ];
}

function strangeText(): HostileBody[] {
  return [
    { label: '__proto__', body: '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}' },
    { label: 'toString', body: '{"toString":1,"valueOf":1,"hasOwnProperty":1,"then":1}' },
    { label: 'half a surrogate pair', body: '{"no_such":"\\ud800","\\udfff":1}' },
    { label: 'NUL in a name', body: '{"a\\u0000b":"\\u0000"}' },
    { label: 'numerals beyond a number', body: '{"no_such":[1e400,-1e400,1e-400,-0,0.1e1]}' },
    { label: 'numerals that JSON does not have', body: '{"a":0x10}' },
    { label: 'NaN', body: '{"a":NaN}' },
    { label: 'no UTF-8', body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0x22, 0x3a, 0x31, 0x7d]) },
    { label: 'UTF-16', body: Buffer.from('\ufeff{"a":1}', 'utf16le') },
  ];
}

function strangeTypes(): HostileBody[] {
  const bytes = gzipSync(Buffer.alloc(16 * 1024 * 1024));
  const form = 'a=1&b=2';
  return [
    { label: 'gzip', body: bytes, headers: { 'content-encoding': 'gzip' } },
    { label: 'a form', body: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { label: 'no type', body: '{"a":1}', headers: { 'content-type': '' } },
    { label: 'a long type', body: '{"a":1}', headers: { 'content-type': `a/${'b'.repeat(8000)}` } },
    { label: 'another charset', body: '{"ä":1}', headers: { 'content-type': 'application/json; charset=x' } },
  ];
}

/** Query strings that every route must refuse, or not mind. */
export const HOSTILE_QUERIES: readonly string[] = [
  `no_such=${'x'.repeat(8000)}`,
  `${'x'.repeat(8000)}=1`,
  Array.from({ length: 1500 }, (_, at) => `p${at}=`).join('&'),
  `limit=${'9'.repeat(8000)}`,
  'limit=x&'.repeat(900),
  '__proto__=1&constructor=2&toString=3',
  '%00=%00&%ff=%fe&%=%',
  'limit[]=1&limit[a][b]=2',
  `search=${'%00'.repeat(2500)}`,
];

/** What stands for an identifier, or a name, in a path. */
export const HOSTILE_SEGMENTS: readonly string[] = [
  'x'.repeat(8000),
  '%00',
  '%ff%fe',
  '%',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '%ED%A0%80',
  '__proto__',
  'constructor',
  `job_${'0'.repeat(26)}`,
  `run_${'Z'.repeat(26)}`,
  `node_${'0'.repeat(8000)}`,
  "';drop%20table%20jobs;--",
  '*',
  '..;',
];
