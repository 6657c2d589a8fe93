import type { AnswerOf, BodyOf, ParamsOf, QueryOf, RouteScope, RouteSpec } from '@svc/contract';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type Koa from 'koa';
import type { WebSocket } from 'ws';
import type { Caller } from './caller.js';

/** A validated request: every part has passed the route's schema, defaults applied. */
export interface RouteRequest<R extends RouteSpec = RouteSpec> {
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  /** Of an upload: the bytes as they come. Reading fails when they are too many or stop coming. */
  readonly body: R extends { upload: string } ? Readable : BodyOf<R>;
  readonly caller: R['scope'] extends 'none' ? Caller | null : Caller;
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the client disconnects, or is disconnected by a server that closes. */
  readonly signal: AbortSignal;
  /** For what the route's data cannot express. */
  readonly koa: Koa.Context;
}

export type RouteHandler<R extends RouteSpec> = (call: RouteRequest<R>) => ReplyOf<R> | Promise<ReplyOf<R>>;

export type ReplyOf<R extends RouteSpec> = R extends { stream: 'sse' }
  ? SseReply
  : R extends { stream: 'download' }
    ? DownloadReply
    : AnswerOf<R> & { readonly headers?: Headers };

/** What the `routes` hook hands to a plugin. */
export interface RouteCollector {
  /** `admit` is called before anything of the body is read, and refuses by throwing. */
  add<const R extends RouteSpec>(spec: R, handler: RouteHandler<R>, admit?: Admit): void;
  /** A WebSocket endpoint; `path` is relative to /api/v1. The caller has passed `scope` before the socket opens. */
  upgrade(path: `/${string}`, scope: RouteScope, open: UpgradeHandler): void;
  /** Answers every path outside /api. One plugin alone may set it. */
  fallback(middleware: Koa.Middleware): void;
}

export type Admit = (koa: Koa.Context) => void;
export type UpgradeHandler = (socket: WebSocket, caller: Caller, request: IncomingMessage) => void;

type Headers = Readonly<Record<string, string>>;

export const ok = <const B>(body: B) => ({ status: 200 as const, body });
export const created = <const B>(body: B) => ({ status: 201 as const, body });

export interface SseMessage {
  readonly id?: string | number;
  readonly event?: string;
  /** Written as one line of JSON. */
  readonly data?: unknown;
  /** In place of `data`: its JSON, for what is written to many streams. */
  readonly json?: string;
}

export interface SseStream {
  /** The client's `Last-Event-ID`: it has everything up to and including it. */
  readonly lastEventId: string | null;
  /** Aborts when the client disconnects, was disconnected, or the server closes. */
  readonly signal: AbortSignal;
  /**
   * Resolves once the messages were handed to the socket in one piece, or the stream is closed; never rejects. Await it in a replay, but not in
   * a live fan-out: a client with too many bytes in flight is disconnected and resumes by `Last-Event-ID`.
   */
  write(...messages: readonly SseMessage[]): Promise<void>;
  /** Sends `event: end` and closes. */
  end(): void;
}

export type SseReply = {
  readonly kind: 'sse';
  readonly headers?: Headers;
  open(stream: SseStream): void | Promise<void>;
};

/** `open` may return while the stream lives on; it ends by `end()`, by the client, or when `open` throws. */
export const sse = (open: SseReply['open'], headers: Headers = {}): SseReply => ({
  kind: 'sse',
  open,
  headers,
});

export interface Download {
  /** Left out: shown inline. */
  readonly filename?: string;
  readonly contentType: string;
  /** Of `body`, when it is known: the client can tell then that a download broke off. */
  readonly sizeBytes?: number;
  readonly body: Readable | Buffer | string;
}

export type DownloadReply = Download & { readonly kind: 'download' };

/** An answer of any route. */
export type Reply =
  { readonly status: number; readonly body: unknown; readonly headers?: Headers } | SseReply | DownloadReply;

export const download = (file: Download): DownloadReply => ({ kind: 'download', ...file });
