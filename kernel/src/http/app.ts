import { Router } from '@koa/router';
import Koa from 'koa';
import type { Caller } from '../caller.js';
import type { Clock } from '../clock.js';
import { HttpError, fail, toEnvelope, toHttpError } from '../errors.js';
import type { Logger } from '../logger.js';
import { compileAnswerCheck } from './answer.js';
import type { Gate } from './gate.js';
import { compileInput } from './input.js';
import { admitOrigin, type OriginPolicy } from './origin.js';
import { toRequestId } from './request-id.js';
import type { Download, DownloadReply, RouteRequest, SseReply } from './route.js';
import { API, toRouterPath, type HttpRoute } from './routes.js';
import { answerSse } from './sse.js';

export interface AppParts {
  readonly routes: readonly HttpRoute[];
  readonly fallback: Koa.Middleware | null;
  readonly gate: Gate;
  readonly policy: OriginPolicy;
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
  /** Refuse to send what the route's schema does not allow: for tests. */
  readonly checkAnswers: boolean;
}

export function createApp(parts: AppParts): Koa {
  const app = new Koa();
  app.on('error', (err: NodeJS.ErrnoException) => {
    if (!isClientGone(err)) parts.log.error({ err }, 'an answer broke off');
  });
  app.use(answerErrors(parts));
  app.use(admit(parts));
  app.use(outsideApi(parts.fallback));
  app.use(createRouter(parts).routes());
  app.use((ctx) => {
    const methods = new Set((ctx['matched'] as { methods: string[] }[]).flatMap((layer) => layer.methods));
    if (methods.size === 0) fail('not_found', `there is nothing at ${ctx.path}`);
    const allow = [...methods].join(', ');
    throw new HttpError(
      'method_not_allowed',
      `${ctx.path} takes ${allow}, not ${ctx.method}`,
      {},
      { Allow: allow },
    );
  });
  return app;
}

const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** The outermost layer: request id, security headers, the error envelope, one log line per request. */
function answerErrors({ log, closing }: AppParts): Koa.Middleware {
  return async (ctx, next) => {
    const startedMs = performance.now();
    const requestId = toRequestId(ctx.req);
    ctx.state['requestId'] = requestId;
    ctx.set({ ...SECURITY_HEADERS, 'X-Request-Id': requestId });
    if (ctx.path.startsWith('/api/')) ctx.set('Cache-Control', 'no-store');
    ctx.res.once('close', () => {
      const ms = Math.round(performance.now() - startedMs);
      const level = ctx.status >= 500 ? 'error' : ctx.method === 'GET' ? 'debug' : 'info';
      log[level](
        { request_id: requestId, method: ctx.method, path: ctx.path, status: ctx.status, ms },
        'request',
      );
    });
    try {
      await next();
    } catch (error) {
      const answer = toHttpError(error, requestId);
      if (answer.code === 'internal' && !isClientGone(error))
        log.error({ err: error, request_id: requestId }, 'request failed');
      ctx.status = answer.status;
      ctx.set(answer.headers);
      ctx.body = toEnvelope(answer);
    }
    if (closing.aborted) ctx.set('Connection', 'close');
  };
}

function isClientGone(error: unknown): boolean {
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  return ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ECANCELED'].includes(code);
}

/** Host and Origin, and the CORS answers for the foreign origins that the configuration allows. */
function admit({ policy }: AppParts): Koa.Middleware {
  return async (ctx, next) => {
    const origin = admitOrigin(ctx.req, policy);
    if (policy.allowedOrigins.length > 0) ctx.vary('Origin');
    if (origin === null) return next();
    ctx.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After',
    });
    if (ctx.method !== 'OPTIONS' || !ctx.get('Access-Control-Request-Method')) return next();
    ctx.set({
      'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id',
      'Access-Control-Max-Age': '600',
    });
    ctx.status = 204;
  };
}

function outsideApi(fallback: Koa.Middleware | null): Koa.Middleware {
  const nothing: Koa.Middleware = (ctx) => fail('not_found', `there is nothing at ${ctx.path}`);
  return async (ctx, next) => {
    if (!isDecodable(ctx.path)) fail('not_found', 'the path has a malformed percent-encoding');
    if (ctx.path === '/api' || ctx.path.startsWith('/api/')) return next();
    await (fallback ?? nothing)(ctx, () => Promise.resolve());
    if (ctx.status === 404 && !ctx.body) nothing(ctx, next);
  };
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function createRouter(parts: AppParts): Router {
  const router = new Router({ prefix: API, sensitive: true });
  for (const route of parts.routes)
    router.register(toRouterPath(route.spec.path), [route.spec.method], answerBy(route, parts));
  return router;
}

function answerBy(
  { spec, handler }: HttpRoute,
  { gate, clock, closing, log, checkAnswers }: AppParts,
): Koa.Middleware {
  const readInput = compileInput(spec);
  const checkAnswer = checkAnswers ? compileAnswerCheck(spec) : null;
  return async (ctx: Koa.Context) => {
    const requestId = ctx.state['requestId'] as string;
    const caller = await gate(ctx.get('Authorization') || undefined, spec.scope);
    const input = await readInput(ctx.req, ctx.querystring);
    const signal = signalOf(ctx, closing);
    const params = (ctx as unknown as { params: Record<string, string> }).params;
    const request = { params, ...input, caller, headers: ctx.headers, requestId, signal, koa: ctx };
    const reply = await (handler as AnyHandler)(request as AnyRequest);
    if (ctx.method === 'HEAD' && spec.stream) return void (ctx.status = 200);
    if (!('kind' in reply)) {
      checkAnswer?.(reply);
      ctx.status = reply.status;
      ctx.set({ ...reply.headers });
      ctx.body = reply.body;
    } else if (reply.kind === 'sse') {
      const onError = (err: unknown) =>
        log.error({ err, request_id: requestId, route: spec.id }, 'stream failed');
      answerSse(ctx, reply, { clock, closing, onError });
    } else sendFile(ctx, reply);
  };
}

type AnyRequest = Omit<RouteRequest, 'caller'> & { caller: Caller | null };
type AnyReply =
  { status: number; body: unknown; headers?: Record<string, string> } | SseReply | DownloadReply;
type AnyHandler = (request: AnyRequest) => AnyReply | Promise<AnyReply>;

function sendFile(ctx: Koa.Context, { filename, contentType, body }: Download): void {
  ctx.status = 200;
  if (filename !== undefined) ctx.attachment(filename);
  ctx.set('Content-Type', contentType);
  ctx.body = body;
}

/** Not AbortSignal.any: on Node 20 that keeps a note of every request on the long-lived signal. */
function signalOf(ctx: Koa.Context, closing: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (closing.aborted) abort();
  closing.addEventListener('abort', abort);
  ctx.res.once('close', () => {
    closing.removeEventListener('abort', abort);
    abort();
  });
  return controller.signal;
}
