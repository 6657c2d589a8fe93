import { MIB, type RouteSpec } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Type, type TObject } from 'typebox';
import {
  MAX_PARTS,
  compileCheck,
  decodeUtf8,
  failValidation,
  parseJson,
  refuse,
  type Check,
} from '@svc/validation';
import { openBody, readBody, waitForTurn, type BodyShare } from './body.js';

/** The position of a mistake is not searched for in a longer text, as that parses it many times. */
const MAX_SEARCHED_BYTES = 64 * 1024;
/** A body may have one value or name per this many bytes of its limit: handling one costs more than parsing it. */
const BYTES_OF_A_PART = 16;

type Input = { readonly query: Record<string, unknown>; readonly body: unknown };
type ReadInput = (request: IncomingMessage, search: string, share: BodyShare) => Promise<Input>;

/** Reads and checks query and body of a request; throws 422 and 413. The last one of a repeated parameter counts. */
export function compileInput(spec: RouteSpec): ReadInput {
  const schema = spec.query ?? Type.Object({}, { additionalProperties: false });
  const checkQuery = compileCheck(schema);
  const checkBody = spec.body && compileCheck(spec.body, spec.method === 'PATCH' ? 'leave' : 'fill');
  const limitBytes = spec.bodyLimitBytes ?? MIB;
  const maxParts = Math.min(MAX_PARTS, limitBytes / BYTES_OF_A_PART);
  return async (request, search, share) => {
    const query = coerce(Object.fromEntries(new URLSearchParams(search)), schema);
    refuse(checkQuery(query));
    if (spec.upload !== undefined) return { query, body: openUpload(request, spec.upload, limitBytes) };
    const bytes = await readBody(request, limitBytes, share);
    await waitForTurn(bytes.length);
    const body = bytes.length === 0 ? {} : parse(bytes, request.headers['content-type'] ?? '', maxParts);
    await waitForTurn(bytes.length);
    return { query, body: takeBody(body, checkBody) };
  };
}

function openUpload(request: IncomingMessage, mediaType: string, limitBytes: number): Readable {
  const given = request.headers['content-type'] ?? '';
  if (given.split(';', 1)[0]?.trim().toLowerCase() !== mediaType)
    refuseBody(`must be sent with "Content-Type: ${mediaType}", not "${given}"`);
  return openBody(request, limitBytes);
}

/** What a string must look like to become the type that the schema asks for. */
const COERCIBLE: Readonly<Record<string, RegExp>> = {
  integer: /^-?(0|[1-9]\d*)$/,
  number: /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/,
  boolean: /^(true|false)$/,
};

function coerce(parameters: Record<string, string>, { properties }: TObject): Record<string, unknown> {
  const entries = Object.entries(parameters).map(([name, text]) => {
    const { type = '' } = (Object.hasOwn(properties, name) ? properties[name] : {}) as { type?: string };
    return [name, COERCIBLE[type]?.test(text) ? JSON.parse(text) : text];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function takeBody(body: unknown, check: Check | undefined): unknown {
  if (check) refuse(check(body));
  else if (!isEmpty(body)) refuseBody('must be left out: this endpoint takes none');
  return check && body;
}

function isEmpty(body: unknown): boolean {
  return typeof body === 'object' && !Array.isArray(body) && body !== null && Object.keys(body).length === 0;
}

function parse(bytes: Buffer, contentType: string, maxParts: number): unknown {
  const isJson = /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType);
  if (!isJson) refuseBody(`must be JSON: send "Content-Type: application/json", not "${contentType}"`);
  try {
    return parseJson(bytes, maxParts);
  } catch (error) {
    if (error instanceof TypeError) refuseBody('is not valid UTF-8; send it uncompressed');
    if (!(error instanceof SyntaxError)) throw error;
    return refuseBody(
      `is malformed JSON${bytes.length > MAX_SEARCHED_BYTES ? '' : toPlace(decodeUtf8(bytes))}`,
    );
  }
}

function toPlace(text: string): string {
  const before = text.slice(0, findMistake(text)).split('\n');
  return ` at line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/** V8 does not always name the position. This finds the first character after which the text cannot become valid JSON. */
function findMistake(text: string): number {
  let [low, high] = [0, text.length];
  while (low < high) {
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

function refuseBody(why: string): never {
  return failValidation({ path: '', message: `the body ${why}` });
}
