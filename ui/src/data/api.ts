import { EventStream, type StreamListener } from './sse.js';
import { followVisibility } from './visibility.js';

const BASE = '/api/v1';

export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** What went wrong with a request. `code` is the server's, or `network` when no answer came. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 0,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export interface ApiOptions {
  token(): string | null;
  /** Called when the server refuses the token, with its message. */
  onUnauthorized(message: string): void;
}

/** The server, as seen from this page: every request carries the token in its header, never in the address. */
export class Api {
  private clockSkewMs = 0;

  constructor(private readonly options: ApiOptions) {}

  get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    return this.json<T>('GET', address(path, query), undefined, signal);
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.json<T>('POST', address(path), body);
  }

  /** The whole answer as a file. */
  async download(path: string, query: Query = {}): Promise<Blob> {
    const response = await this.request(address(path, query), { headers: this.headers() });
    return response.blob();
  }

  /** Server-sent events that reconnect and resume by themselves, and rest while the page is hidden. Returns the end of it. */
  stream(path: string, query: Query, listener: StreamListener, lastEventId?: string): () => void {
    const url = address(path, query);
    const stream = new EventStream({
      connect: (headers, signal) => this.request(url, { headers: this.headers(headers), signal }),
      ...listener,
      ...(lastEventId === undefined ? {} : { lastEventId }),
    });
    const unfollow = followVisibility(stream);
    stream.resume();
    return () => {
      unfollow();
      stream.close();
    };
  }

  /** The server's clock, so that ages and durations are right on a host whose own clock is not. */
  now(): number {
    return Date.now() + this.clockSkewMs;
  }

  private async json<T>(method: string, url: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const headers = this.headers(body === undefined ? {} : { 'content-type': 'application/json' });
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    const response = await this.request(url, init);
    return (await response.json()) as T;
  }

  private async request(url: string, init: RequestInit): Promise<Response> {
    const response = await reach(url, init);
    this.noteClock(response);
    if (response.ok) return response;
    const error = await parseError(response);
    if (response.status === 401 && this.options.token() !== null) this.options.onUnauthorized(error.message);
    throw error;
  }

  private headers(extra: Record<string, string> = {}): Record<string, string> {
    const token = this.options.token();
    return token === null ? extra : { ...extra, authorization: `Bearer ${token}` };
  }

  /** The Date header counts whole seconds: a smaller difference is no skew. */
  private noteClock(response: Response): void {
    const date = Date.parse(response.headers.get('date') ?? '');
    if (Number.isNaN(date)) return;
    const skewMs = date + 500 - Date.now();
    this.clockSkewMs = Math.abs(skewMs) > 3000 ? skewMs : 0;
  }
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { cache: 'no-store', credentials: 'omit', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError('network', 'The server does not answer. Is it running, and is this machine online?');
  }
}

/** `/jobs`, `{status: 'FAILED', before: null}` to `/api/v1/jobs?status=FAILED`: what is empty is left out. */
export function address(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return BASE + path + (text === '' ? '' : `?${text}`);
}

/** The error envelope of an answer; something in between (a proxy) may answer without one. */
export async function parseError(response: Response): Promise<ApiError> {
  const fallback = new ApiError('internal', `The server answered ${response.status}.`, response.status);
  try {
    const { error } = (await response.json()) as {
      error?: { code?: unknown; message?: unknown; details?: unknown };
    };
    if (typeof error?.code !== 'string' || typeof error.message !== 'string') return fallback;
    return new ApiError(
      error.code,
      error.message,
      response.status,
      (error.details ?? {}) as Record<string, unknown>,
    );
  } catch {
    return fallback;
  }
}

/** Any thrown value as an ApiError. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('internal', error instanceof Error ? error.message : String(error));
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
