import { MIB, type RouteSpec } from '@svc/contract';
import type { IncomingMessage } from 'node:http';
import type { TObject, TSchema } from 'typebox';
import { HttpError, failValidation } from '../errors.js';
import { compileCheck, type Check } from '../validation.js';

export interface Input {
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

/** Reads and checks what a request of that route brings; throws 422 and 413. Query parameters that repeat keep the last. */
export function compileInput(spec: RouteSpec): (request: IncomingMessage, search: string) => Promise<Input> {
  const query = spec.query ?? NO_QUERY;
  const checkQuery = compileCheck(query);
  const checkBody = spec.body && compileCheck(spec.body, spec.method === 'PATCH' ? 'leave' : 'fill');
  return async (request, search) => {
    const parameters = coerce(Object.fromEntries(new URLSearchParams(search)), query);
    refuse(checkQuery(parameters));
    const bytes = await readBody(request, spec.bodyLimitBytes ?? MIB);
    return { query: parameters, body: parseBody(bytes, request, checkBody) };
  };
}

const NO_QUERY = { type: 'object', properties: {}, additionalProperties: false } as unknown as TObject;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Strings that are whole numbers, numbers or booleans become such where the schema asks for it; no others. */
function coerce(parameters: Record<string, string>, schema: TObject): Record<string, unknown> {
  const entries = Object.entries(parameters).map(([name, value]): [string, unknown] => {
    const { type } = (Object.hasOwn(schema.properties, name) ? schema.properties[name] : {}) as {
      type?: string;
    };
    if ((type === 'integer' || type === 'number') && NUMBER.test(value)) return [name, Number(value)];
    if (type === 'boolean' && (value === 'true' || value === 'false')) return [name, value === 'true'];
    return [name, value];
  });
  return Object.fromEntries(entries);
}

function parseBody(bytes: Buffer, { headers }: IncomingMessage, check: Check | undefined): unknown {
  if (bytes.length === 0 && !check) return undefined;
  const body = bytes.length === 0 ? {} : parseJson(bytes, headers['content-type'] ?? '');
  if (check) refuse(check(body));
  else if (!isEmptyObject(body)) failValidation({ path: '', message: 'this endpoint takes no body' });
  return check && body;
}

function parseJson(bytes: Buffer, contentType: string): unknown {
  if (!/^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(contentType)) {
    failValidation({
      path: '',
      message: `the body must be JSON: send "Content-Type: application/json", not "${contentType}"`,
    });
  }
  const text = decodeUtf8(bytes);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return failValidation({
      path: '',
      message: `the body is malformed JSON${toPlace(text, error as SyntaxError)}`,
    });
  }
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return failValidation({ path: '', message: 'the body is not valid UTF-8' });
  }
}

function toPlace(text: string, { message }: SyntaxError): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return /end of JSON/.test(message) ? ': it ends too early' : '';
  const before = text.slice(0, Number(position)).split('\n');
  return ` at line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/** Counts while it arrives. What comes after the limit is let go, so that the client can read the answer. */
function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const tooLarge = new HttpError('payload_too_large', `the body is over the limit of ${limitBytes} bytes`);
  request.on('error', reject);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    request.resume();
    throw tooLarge;
  }
  request.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes <= limitBytes) return void chunks.push(chunk);
    chunks.length = 0;
    return reject(tooLarge);
  });
  request.on('end', () => resolve(Buffer.concat(chunks)));
  return promise;
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  );
}

function refuse(issues: ReturnType<Check>): void {
  if (issues.length > 0) failValidation(...issues);
}
