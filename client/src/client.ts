import type { AnswerOf, BodyOf, ParamsOf, QueryOf, RouteSpec } from '@svc/contract';
import { ApiError, readError } from './api-error.js';
import { toPath, toQueryString, type Endpoint } from './endpoint.js';

export interface Connection {
  /** Without a slash at the end; empty in a page that this server has served. */
  readonly url: string;
  readonly token: string | null;
}

export interface ClientOptions {
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** For every call without its own time-out. */
  readonly timeoutMs?: number;
  /** Called for every answer that is not 2xx. */
  readonly onRefused?: (error: ApiError) => void;
}

type ParamsPart<R> = keyof ParamsOf<R> extends never ? { params?: undefined } : { params: ParamsOf<R> };
type BodyPart<R> = R extends { upload: string }
  ? { body: Blob | ReadableStream<Uint8Array> }
  : R extends { body: unknown }
    ? { body: BodyOf<R> }
    : { body?: undefined };
/** A value that is null or undefined is left out. */
type QueryPart<R> = { query?: { readonly [K in keyof QueryOf<R>]?: QueryOf<R>[K] | null | undefined } };
interface Settings {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}
/** The input of a route. */
export type RouteInput<R> = ParamsPart<R> & BodyPart<R> & QueryPart<R>;
export type CallInput<R> = RouteInput<R> & Settings;
type CallArguments<R> = object extends CallInput<R> ? [input?: CallInput<R>] : [input: CallInput<R>];

/** `CallInput` without the types of the route. */
interface RequestParts extends Settings {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

export interface Client {
  readonly connection: Connection;
  /** The body of the 2xx answer. Throws ApiError, or what `signal` was aborted with. */
  call<R extends RouteSpec>(route: R | Endpoint<R>, ...input: CallArguments<R>): Promise<AnswerOf<R>['body']>;
  /** The 2xx response with an unread body, for streams and downloads. Throws as `call` does. */
  open<R extends RouteSpec>(route: R | Endpoint<R>, ...input: CallArguments<R>): Promise<Response>;
  /** Whether what a GET route answers with is there (HEAD). Throws as `call` does, but for not_found. */
  has<R extends RouteSpec>(route: R | Endpoint<R>, ...input: CallArguments<R>): Promise<boolean>;
}

export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  const refuse = async (response: Response): Promise<never> => {
    const error = await readError(response, connection);
    options.onRefused?.(error);
    throw error;
  };
  const open = async (route: Endpoint<RouteSpec>, parts: RequestParts): Promise<Response> => {
    const response = await send(connection, options, route, parts);
    return response.ok ? response : refuse(response);
  };
  return {
    connection,
    open: (route, ...[input]) => open(route, input ?? {}),
    call<R extends RouteSpec>(route: R | Endpoint<R>, ...[input]: CallArguments<R>) {
      return withinTime(input ?? {}, options.timeoutMs, async (parts) => {
        const response = await open(route, parts);
        return (await readJson(response, connection.url, parts.signal)) as AnswerOf<R>['body'];
      });
    },
    has<R extends RouteSpec>(route: R | Endpoint<R>, ...[input]: CallArguments<R>) {
      return withinTime(input ?? {}, options.timeoutMs, async (parts) => {
        const response = await send(connection, options, route, parts, 'HEAD');
        if (response.ok || response.status === 404) return response.ok;
        // The answer to HEAD has no body, and so does not say what is wrong.
        await (await open(route, parts)).body?.cancel();
        return true;
      });
    },
  };
}

/** The timer ends with the work: `AbortSignal.timeout` would keep all of an answered call in memory until its time is over. */
async function withinTime<T>(
  parts: RequestParts,
  usualMs: number | undefined,
  work: (parts: RequestParts) => Promise<T>,
): Promise<T> {
  const { signal, timeoutMs = usualMs } = parts;
  if (timeoutMs === undefined) return work(parts);
  const limit = new AbortController();
  const follow = (): void => limit.abort(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow);
  const timer = setTimeout(() => limit.abort(new DOMException('no answer in time', TIMEOUT)), timeoutMs);
  try {
    return await work({ ...parts, signal: limit.signal });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', follow);
  }
}

async function send(
  { url, token }: Connection,
  { fetch: request = (address, init) => fetch(address, init) }: ClientOptions,
  route: Endpoint<RouteSpec>,
  { params = {}, query = {}, body, headers = {}, signal }: RequestParts,
  method: string = route.method,
): Promise<Response> {
  const isStream = body instanceof ReadableStream;
  try {
    return await request(`${url}/api/v1${toPath(route.path, params)}${toQueryString(query)}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': route.upload ?? 'application/json' }),
        ...headers,
      },
      body: toBody(body, route.upload !== undefined),
      signal: signal ?? null,
      // Of fetch, and not yet in its types.
      ...(isStream && { duplex: 'half' }),
    });
  } catch (cause) {
    if (signal?.aborted && !isTimeout(signal.reason)) throw cause;
    const message = 'The server does not answer. Is it running, and is this machine online?';
    throw new ApiError({ code: 'network', message, url, cause });
  }
}

function toBody(body: unknown, isUpload: boolean): NonNullable<RequestInit['body']> | null {
  if (body === undefined) return null;
  return isUpload ? (body as NonNullable<RequestInit['body']>) : JSON.stringify(body);
}

async function readJson(response: Response, url: string, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    if (signal?.aborted && !isTimeout(signal.reason)) throw cause;
    const message = 'The answer of the server broke off, or is not JSON.';
    throw new ApiError({ code: 'unreadable', message, status: response.status, url, cause });
  }
}

const TIMEOUT = 'TimeoutError';

/** A time-out counts as no answer; any other abort was requested by the caller. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === TIMEOUT;
}
