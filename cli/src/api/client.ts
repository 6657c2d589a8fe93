import type { AnswerOf, BodyOf, ParamsOf, QueryOf, RouteSpec } from '@svc/contract';
import { Failure } from '../failure.js';
import { toApiError } from './api-error.js';

export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly token: string | null;
}

type ParamsPart<R> = keyof ParamsOf<R> extends never ? { params?: undefined } : { params: ParamsOf<R> };
type BodyPart<R> = R extends { body: unknown } ? { body: BodyOf<R> } : { body?: undefined };
export type CallInput<R> = ParamsPart<R> &
  BodyPart<R> & { query?: Partial<QueryOf<R>>; signal?: AbortSignal };
type CallArguments<R> = object extends CallInput<R> ? [input?: CallInput<R>] : [input: CallInput<R>];

/** What every request is made of; `CallInput` is its typed form. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface Client {
  readonly connection: Connection;
  /** The body of the 2xx answer. Throws ApiError for any other, Failure when the server cannot be reached. */
  call<R extends RouteSpec>(route: R, ...input: CallArguments<R>): Promise<AnswerOf<R>['body']>;
  /** The answer itself, its body not read yet: for streams and downloads. Throws as `call` does. */
  open(route: RouteSpec, parts?: RequestParts): Promise<Response>;
}

export function createClient(connection: Connection): Client {
  const open = async (route: RouteSpec, parts: RequestParts = {}): Promise<Response> => {
    const response = await send(connection, route, parts);
    if (response.ok) return response;
    throw toApiError(response.status, await response.text(), connection.url);
  };
  return {
    connection,
    open,
    async call<R extends RouteSpec>(route: R, ...[input]: CallArguments<R>) {
      const response = await open(route, input as RequestParts | undefined);
      return (await readJson(response, connection.url)) as AnswerOf<R>['body'];
    },
  };
}

async function readJson(response: Response, url: string): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new Failure(`what ${url} answered is no JSON, or broke off: is it an svc server?`, {
      cause: error,
    });
  }
}

async function send({ url, token }: Connection, route: RouteSpec, parts: RequestParts): Promise<Response> {
  const { params = {}, query = {}, body, headers = {}, signal = null } = parts;
  try {
    return await fetch(`${url}/api/v1${toPath(route.path, params)}${toQueryString(query)}`, {
      method: route.method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure(`cannot reach ${url}: is the server running? start it with: svc up`, { cause: error });
  }
}

/** Fills `{job_id}` in; a `{name:path}` keeps its slashes. */
export function toPath(template: string, params: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)(:path)?\}/g, (_match, name: string, isPath?: string) => {
    const value = params[name] ?? '';
    return isPath ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
  });
}

function toQueryString(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
