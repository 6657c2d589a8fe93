import { Router } from '@koa/router';
import { isAnswerable } from '@svc/hooks';
import { HttpError, fail } from '@svc/validation';
import Koa from 'koa';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { toJsonBytes } from './answer.js';
import { BodyShare } from './body.js';
import type { Caller } from './caller.js';
import { toEnvelope, toHttpError } from './errors.js';
import { compileInput } from './input.js';
import { admitOrigin } from './origin.js';
import type { HttpParts, ServerParts } from './parts.js';
import type { Reply, RouteRequest } from './route.js';
import { API, toRouterPath, toShape, type HttpRoute } from './routes.js';
import { answerSse } from './sse.js';
import type { TokenWatch } from './token-watch.js';

export function createApp(parts: ServerParts): Koa {
  const app = new Koa();
  app.on('error', (err) => void (isClientGone(err) || parts.log.error({ err }, 'an answer broke off')));
  app.use(answerErrors(parts));
  app.use(admit(parts));
  app.use(outsideApi(parts));
  app.use(createRouter(parts).routes());
  app.use((ctx) => refuseMethod(ctx));
  return app;
}

/** The methods of the most specific route that matches the path: `/runs/compare` is never a run, whatever the method. */
function methodsOf(ctx: Koa.Context): string[] {
  const fitting = ctx['matched'] as { name: string; methods: string[] }[];
  const methods = fitting.filter(({ name }) => name === fitting[0]?.name).flatMap((layer) => layer.methods);
  return [...new Set(methods)];
}

function refuseMethod(ctx: Koa.Context): never {
  const methods = methodsOf(ctx);
  if (methods.length === 0) fail('not_found', `there is nothing at ${ctx.path}`);
  const Allow = methods.join(', ');
  throw new HttpError('method_not_allowed', `${ctx.path} takes ${Allow}`, {}, { Allow });
}

const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

/** Browsers ignore it elsewhere, and report an error on every page. */
const OF_SECURE_CONTEXTS = { 'Cross-Origin-Opener-Policy': 'same-origin' };

/** HTTPS, which a proxy terminates, or this host itself. A browser sends `Sec-Fetch-Site` there alone; a proxy need not say more. */
function isSecureContext(ctx: Koa.Context): boolean {
  if (ctx.get('Sec-Fetch-Site') !== '' || ctx.get('X-Forwarded-Proto') === 'https') return true;
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(ctx.hostname);
}

/** The outermost layer: request id, security headers, the error envelope, one log line per request. */
function answerErrors({ log, closing, explainOutage }: HttpParts): Koa.Middleware {
  return async (ctx, next) => {
    const startedMs = performance.now();
    const given = ctx.get('X-Request-Id');
    const request_id = /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
    ctx.state['requestId'] = request_id;
    ctx.set({ ...SECURITY_HEADERS, 'X-Request-Id': request_id });
    if (isSecureContext(ctx)) ctx.set(OF_SECURE_CONTEXTS);
    if (isApi(ctx.path)) ctx.set('Cache-Control', 'no-store');
    ctx.res.once('close', () => {
      const { method, path, status } = ctx;
      const ms = Math.round(performance.now() - startedMs);
      log[method === 'GET' ? 'debug' : 'info']({ request_id, method, path, status, ms }, 'request');
    });
    try {
      await next();
    } catch (err) {
      const answer = toHttpError(err, request_id, explainOutage);
      if (answer.status >= 500 && !isAnswerable(err) && !isClientGone(err))
        log.error({ err, request_id }, 'a request failed');
      ctx.status = answer.status;
      ctx.set(answer.headers);
      ctx.body = toEnvelope(answer);
    }
    if (closing.aborted) ctx.set('Connection', 'close');
  };
}

const isClientGone = (error: unknown): boolean =>
  /^(ERR_STREAM_PREMATURE_CLOSE|ECONNRESET|EPIPE)$/.test(
    (error as NodeJS.ErrnoException | undefined)?.code ?? '',
  );

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id',
  'Access-Control-Max-Age': '600',
};

/** Host and Origin, and the CORS answers for the foreign origins that the configuration allows. */
function admit({ config }: HttpParts): Koa.Middleware {
  return async (ctx, next) => {
    const origin = admitOrigin(ctx.req, config);
    if (config.allowedOrigins.length > 0) ctx.vary('Origin');
    if (origin === null) return next();
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After');
    if (ctx.method !== 'OPTIONS') return next();
    ctx.status = 204;
    ctx.set(PREFLIGHT_HEADERS);
  };
}

const isApi = (path: string): boolean => /^\/api(\/|$)/.test(path);

function outsideApi({ fallback }: HttpParts): Koa.Middleware {
  return async (ctx, next) => {
    if (!isApi(ctx.path)) await fallback?.(ctx, () => Promise.resolve());
    if (ctx.status !== 404 || ctx.body) return;
    decodeURIComponent(ctx.path); // Throws a URIError, answered by 404.
    if (isApi(ctx.path)) return next();
    fail('not_found', `there is nothing at ${ctx.path}`);
  };
}

function createRouter(parts: ServerParts): Router {
  const router = new Router({ prefix: API, sensitive: true });
  for (const route of parts.routes) {
    const { path, method } = route.spec;
    router.register(toRouterPath(path), [method], answerBy(route, parts), { name: toShape(path) });
  }
  return router;
}

function answerBy({ spec, handler, admit }: HttpRoute, parts: ServerParts): Koa.Middleware {
  const readInput = compileInput(spec);
  return async (ctx: Koa.Context) => {
    if (!methodsOf(ctx).includes(ctx.method)) refuseMethod(ctx);
    const caller = await parts.authorize(ctx.get('Authorization'), spec.scope);
    admit?.(ctx);
    const gone = new AbortController();
    const share = new BodyShare();
    const close = () => {
      share.release();
      if (!ctx.res.writableFinished) gone.abort();
    };
    if (ctx.res.closed) close();
    else ctx.res.once('close', close);
    const input = await readInput(ctx.req, ctx.querystring, share);
    const request = {
      ...input,
      params: ctx['params'] as object,
      caller,
      headers: ctx.headers,
      signal: gone.signal,
      koa: ctx,
    };
    try {
      await send(ctx, await handler(request as RouteRequest), parts, caller);
    } finally {
      if (spec.upload !== undefined) (input.body as Readable).destroy();
    }
  };
}

async function send(
  ctx: Koa.Context,
  reply: Reply,
  parts: ServerParts,
  caller: Caller | null,
): Promise<void> {
  ctx.status = 200;
  if (!('kind' in reply)) {
    const body = await toJsonBytes(reply.body);
    ctx.status = reply.status;
    ctx.set({ ...reply.headers });
    ctx.type = 'json';
    ctx.body = body;
  } else if (reply.kind === 'download') {
    if (reply.filename !== undefined) ctx.attachment(reply.filename);
    ctx.set('Content-Type', reply.contentType);
    ctx.body = reply.body;
    if (reply.sizeBytes !== undefined) ctx.length = reply.sizeBytes;
    if (caller && !ctx.res.closed) cutWithToken(ctx, parts.tokens);
  } else if (ctx.method !== 'HEAD' && !ctx.res.closed) answerSse(ctx, reply, parts, caller!);
}

/** Aborts a download when its token is revoked or expires. */
function cutWithToken({ req, res }: Koa.Context, tokens: TokenWatch): void {
  const unwatch = tokens.watch(req.headers.authorization ?? '', () => res.destroy());
  res.once('close', unwatch);
}
