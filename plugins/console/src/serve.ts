import { send } from '@koa/send';
import type Koa from 'koa';
import { ReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';

const INDEX = '/index.html';
/** The build gives what lies here a name that changes with its content. */
const HASHED = '/assets/';
const YEAR_S = 365 * 24 * 60 * 60;

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc</title>
<h1>The console has not been built</h1>
<p>Run <code>npm run build</code> in the directory of the server, then reload this page. The API at <code>/api/v1</code> works without it.</p>
</html>
`;

/**
 * Files of `dir`, and index.html for every other page that a browser asks for: the console knows its own paths. What is
 * neither is left unanswered. Nothing outside `dir` and no dot file is ever sent.
 */
export function serveConsole(dir: string): Koa.Middleware {
  return async (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return;
    const isSent = await sendFile(ctx, dir, ctx.path === '/' ? INDEX : ctx.path);
    if (isSent || !isPage(ctx)) return;
    if (await sendFile(ctx, dir, INDEX)) return;
    ctx.status = 503;
    ctx.type = 'html';
    ctx.body = NOT_BUILT;
  };
}

/** A missing script must be missing, not a page: only who asks for HTML by name gets it. */
function isPage(ctx: Koa.Context): boolean {
  return ctx.path === '/' || (!ctx.path.startsWith(HASHED) && /\btext\/html\b/.test(ctx.get('Accept')));
}

async function sendFile(ctx: Koa.Context, root: string, path: string): Promise<boolean> {
  try {
    const sent = await send(ctx, path, { root, setHeaders: (response) => setCaching(response, path) });
    if (sent === undefined) return false;
  } catch (error) {
    // Not there, or not to be had: a path that leads out of `root`, or that no file can have.
    const { status = 500 } = error as { status?: number };
    if (status >= 500) throw error;
    return false;
  }
  ctx.vary('Accept-Encoding');
  if (ctx.fresh) answerUnchanged(ctx);
  return true;
}

function setCaching(response: ServerResponse, path: string): void {
  response.setHeader(
    'Cache-Control',
    path.startsWith(HASHED) ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
  );
}

function answerUnchanged(ctx: Koa.Context): void {
  if (ctx.body instanceof ReadStream) ctx.body.destroy();
  ctx.body = null;
  ctx.status = 304;
}
