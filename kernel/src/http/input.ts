import { MIB, type Issue, type RouteSpec } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type, type TObject } from 'typebox';
import { HttpError, failValidation } from '../errors.js';
import { compileCheck, isTooDeep, MAX_DEPTH, type Check } from '../validation.js';

const MAX_SEARCHED_CHARS = 1024 * 1024;
/** Larger ones are parsed one in each turn of the event loop, so that whoever asks for little comes in between. */
const LARGE_BODY_BYTES = 64 * 1024;
let lastTurn = Promise.resolve();

type Input = { readonly query: Record<string, unknown>; readonly body: unknown };
type ReadInput = (request: IncomingMessage, search: string) => Promise<Input>;

/** Reads and checks what a request of that route brings; throws 422 and 413. Of a repeated parameter the last counts. */
export function compileInput(spec: RouteSpec): ReadInput {
  const schema = spec.query ?? Type.Object({}, { additionalProperties: false });
  const checkQuery = compileCheck(schema);
  const checkBody = spec.body && compileCheck(spec.body, spec.method === 'PATCH' ? 'leave' : 'fill');
  return async (request, search) => {
    const query = coerce(Object.fromEntries(new URLSearchParams(search)), schema);
    refuse(checkQuery(query));
    const bytes = await readBody(request, spec.bodyLimitBytes ?? MIB);
    if (bytes.length > LARGE_BODY_BYTES) await (lastTurn = lastTurn.then(() => nextTurn()));
    return { query, body: parseBody(bytes, request.headers['content-type'] ?? '', checkBody) };
  };
}

/** What a string must look like to become the type that the schema asks for. */
const COERCIBLE: Readonly<Record<string, RegExp>> = {
  integer: /^-?\d+$/,
  number: /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/,
  boolean: /^(true|false)$/,
};

function coerce(parameters: Record<string, string>, { properties }: TObject): Record<string, unknown> {
  const entries = Object.entries(parameters).map(([name, text]) => {
    const { type = '' } = (Object.hasOwn(properties, name) ? properties[name] : {}) as { type?: string };
    return [name, COERCIBLE[type]?.test(text) ? JSON.parse(text) : text];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function parseBody(bytes: Buffer, contentType: string, check: Check | undefined): unknown {
  const body = bytes.length === 0 ? {} : parseJson(bytes, contentType);
  const deep = Object.entries(body ?? {}).find(([, value]) => isTooDeep(value));
  if (deep) failValidation({ path: deep[0], message: `must not nest more than ${MAX_DEPTH} levels deep` });
  if (check) refuse(check(body));
  else if (JSON.stringify(body) !== '{}') refuseBody('must be left out: this endpoint takes none');
  return check && body;
}

function parseJson(bytes: Buffer, contentType: string): unknown {
  const isJson = /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType);
  if (!isJson) refuseBody(`must be JSON: send "Content-Type: application/json", not "${contentType}"`);
  let text = '';
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) refuseBody('is not valid UTF-8; send it uncompressed');
    return refuseBody(`is malformed JSON at ${toPlace(text)}`);
  }
}

function toPlace(text: string): string {
  const before = text.slice(0, findMistake(text)).split('\n');
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/** V8 does not always say where: the first character with which the text so far cannot become JSON any more. */
function findMistake(text: string): number {
  let [low, high] = [0, text.length];
  while (low < high && text.length <= MAX_SEARCHED_CHARS) {
    const middle = (low + high) >> 1;
    if (isOnlyCutShort(text.slice(0, middle + 1))) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isOnlyCutShort(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch (error) {
    const { message } = error as SyntaxError;
    return /end of JSON|Unterminated/.test(message) || message.includes(`at position ${text.length}`);
  }
}

/** Counts while it arrives. What comes after the limit is let go, so that the client can read the answer. */
function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const refuse = () => reject(new HttpError('payload_too_large', `the body is over ${limitBytes} bytes`));
    if (Number(request.headers['content-length']) > limitBytes) refuse();
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) refuse();
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

const refuse = (issues: readonly Issue[]): void => void (issues.length > 0 && failValidation(...issues));

function refuseBody(why: string): never {
  return failValidation({ path: '', message: `the body ${why}` });
}
