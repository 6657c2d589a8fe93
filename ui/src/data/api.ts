import {
  ApiError,
  createClient,
  endpoint,
  type CallInput,
  type Client,
  type Endpoint,
  type RouteInput,
} from '@svc/client';
import type { AnswerOf, RouteSpec } from '@svc/contract';
import { LiveStream, type StreamListener } from './live-stream.js';
import { followVisibility } from './visibility.js';

export { ApiError, endpoint };

export interface ApiOptions {
  token(): string | null;
  /** Called when the server refuses the token, with its message. */
  onUnauthorized(message: string): void;
}

/** The server, as seen from this page: every request carries the token in its header, never in the address. */
export class Api {
  #clockSkewMs = 0;
  readonly #client: Client;

  constructor(options: ApiOptions) {
    const connection = {
      url: '',
      get token() {
        return options.token();
      },
    };
    this.#client = createClient(connection, {
      fetch: async (url, init) => {
        const response = await fetch(url, { cache: 'no-store', credentials: 'omit', ...init });
        this.#noteClock(response);
        return response;
      },
      onRefused: ({ status, message }) => {
        if (status === 401 && options.token() !== null) options.onUnauthorized(message);
      },
    });
  }

  /** A route of the contract. */
  async call<R extends RouteSpec>(route: Endpoint<R>, input: CallInput<R>): Promise<AnswerOf<R>['body']> {
    const answer = await this.callAny(route, input);
    if (isEmpty(answer)) throw unreadable();
    return answer;
  }

  /** A route that may be one of a plugin, and so may answer anything. */
  callAny<R extends RouteSpec>(route: Endpoint<R>, input: CallInput<R>): Promise<AnswerOf<R>['body']> {
    return this.#client.call(route, input);
  }

  /** The whole answer as a file. */
  async download<R extends RouteSpec>(route: Endpoint<R>, input: CallInput<R>): Promise<Blob> {
    const response = await this.#client.open(route, input);
    return response.blob();
  }

  /** The lines of the answer, some at a time as they arrive. Who stops reading ends the download. */
  async *downloadLines<R extends RouteSpec>(
    route: Endpoint<R>,
    input: CallInput<R>,
  ): AsyncGenerator<string[]> {
    const { body } = await this.#client.open(route, input);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (rest + part.value).split('\n');
        rest = lines.pop()!;
        if (lines.length > 0) yield lines;
      }
      if (rest !== '') yield [rest];
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  /** Server-sent events that reconnect and resume by themselves, and rest while the page is hidden. Returns the end of it. */
  stream<R extends RouteSpec>(
    route: Endpoint<R>,
    input: RouteInput<R>,
    listener: StreamListener,
    lastEventId: string | null = null,
  ): () => void {
    const stream = new LiveStream(this.#client, route, input, listener, lastEventId);
    const unfollow = followVisibility(stream);
    stream.resume();
    return () => {
      unfollow();
      stream.close();
    };
  }

  /** The server's clock, so that ages and durations are right on a host whose own clock is not. */
  now(): number {
    return Date.now() + this.#clockSkewMs;
  }

  /** The Date header counts whole seconds: a smaller difference is no skew. */
  #noteClock(response: Response): void {
    const date = Date.parse(response.headers.get('date') ?? '');
    if (Number.isNaN(date)) return;
    const skewMs = date + 500 - Date.now();
    this.#clockSkewMs = Math.abs(skewMs) > 3000 ? skewMs : 0;
  }
}

/** A filter in a page's address may be empty: then it is none. */
export function withoutEmpty<T extends object>(filter: T): T {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '')) as T;
}

/** Any thrown value as an ApiError. That an answer has not the shape that this page reads comes as a TypeError. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof TypeError || error instanceof SyntaxError) return unreadable(error);
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError({ code: 'internal', message, cause: error });
}

/** A record that may have been deleted meanwhile: null when the server does not have it. Any other failure stays one. */
export async function unlessMissing<T>(record: Promise<T>): Promise<T | null> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  }
}

/** An answer that is not one of this API. */
export function unreadable(cause?: unknown): ApiError {
  const message =
    'The answer of the server cannot be read. Is a proxy in between, or is the server of another version?';
  return new ApiError({ code: 'unreadable', message, cause });
}

/** No route of the contract answers with an object without fields, nor with anything else than an object. */
function isEmpty(answer: unknown): boolean {
  return typeof answer !== 'object' || answer === null || Object.keys(answer).length === 0;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
