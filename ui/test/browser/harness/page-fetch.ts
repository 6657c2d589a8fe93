/// <reference lib="dom" />
// Runs in the browser, in place of `fetch`: plain requests are answered by the test, streams stay open until it closes them.

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: unknown;
  readonly token: string | null;
  readonly key: string | null;
}

export interface FakeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

declare global {
  interface Window {
    /** Given by the test process. */
    answerRequest(request: FakeRequest): Promise<FakeAnswer>;
  }
}

type StreamController = ReadableStreamDefaultController<Uint8Array>;
const streams = new Map<string, Set<StreamController>>();
const encoder = new TextEncoder();
let isAway = false;

export async function fakeFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const { pathname, search } = new URL(String(input), location.href);
  if (isAway) throw new TypeError('Failed to fetch');
  if (pathname.endsWith('/stream')) return openStream(pathname, init.signal ?? null);
  const request: FakeRequest = {
    method: init.method ?? 'GET',
    path: pathname,
    query: search,
    body: typeof init.body === 'string' ? JSON.parse(init.body) : null,
    token: new Headers(init.headers).get('authorization'),
    key: new Headers(init.headers).get('idempotency-key'),
  };
  const { status, contentType, text } = await untilAborted(
    window.answerRequest(request),
    init.signal ?? null,
  );
  if (status === 0) throw new TypeError('Failed to fetch');
  return new Response(text, { status, headers: { 'content-type': contentType } });
}

/** As a server that sends events: the test pushes them by `pushToStream`. */
function openStream(path: string, signal: AbortSignal | null): Response {
  const open = streams.get(path) ?? new Set();
  streams.set(path, open);
  let controller: StreamController;
  const leave = (): void => void open.delete(controller);
  const body = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own;
      open.add(own);
      own.enqueue(encoder.encode(': open\n\n'));
    },
    cancel: leave,
  });
  signal?.addEventListener('abort', () => {
    if (open.delete(controller)) controller.error(signal.reason);
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** Ends all streams and answers nothing, until it is back. */
export function setAway(away: boolean): void {
  isAway = away;
  if (!away) return;
  const open = [...streams.values()].flatMap((controllers) => [...controllers]);
  streams.clear();
  for (const controller of open) controller.error(new TypeError('network error'));
}

export function openStreams(): string[] {
  return [...streams].filter(([, open]) => open.size > 0).map(([path]) => path);
}

export function pushToStream(path: string, text: string): void {
  for (const controller of streams.get(path) ?? []) controller.enqueue(encoder.encode(text));
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    work.then(resolve, reject);
  });
}
