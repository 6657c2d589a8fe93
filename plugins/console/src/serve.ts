import { send } from '@koa/send';
import type Koa from 'koa';
import { ReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Extensions } from './extensions.js';

const EXTENSIONS = '/extensions.json';
const INDEX = '/index.html';
/** The build gives what lies here a name that changes with its content. */
const HASHED = '/assets/';
const FOREVER = `public, max-age=${365 * 24 * 60 * 60}, immutable`;

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc</title>
<h1>The console has not been built</h1>
<p>Run <code>npm run build</code> in the directory of the server, then reload this page. The API at <code>/api/v1</code> works without it.</p>
</html>
`;

/**
 * The pages of plugins, files of `dir`, and index.html for every other page that a browser asks for: the console knows its own
 * paths. What is none of these is left unanswered. Of the disk nothing outside `dir` and no dot file is ever sent.
 */
export function serveConsole(dir: string, extensions: Extensions): Koa.Middleware {
  return async (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return;
    if (answerExtension(ctx, extensions)) return;
    const isSent = await sendFile(ctx, dir, ctx.path === '/' ? INDEX : ctx.path);
    if (isSent || !isPage(ctx)) return;
    if (await sendFile(ctx, dir, INDEX)) return;
    ctx.status = 503;
    ctx.type = 'html';
    ctx.body = NOT_BUILT;
  };
}

/** Both are public as the console's own files are: a browser imports a module without a token. */
function answerExtension(ctx: Koa.Context, extensions: Extensions): boolean {
  const module = extensions.find(ctx.path);
  if (module) {
    ctx.set('Cache-Control', FOREVER);
    ctx.type = 'text/javascript; charset=utf-8';
    ctx.body = module;
  } else if (ctx.path === EXTENSIONS) {
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = 'json';
    ctx.body = extensions.list;
  }
  return ctx.body !== undefined && ctx.body !== null;
}

/** A missing script must be missing, not a page: only who asks for HTML by name gets it. */
function isPage(ctx: Koa.Context): boolean {
  if (/^\/(assets|extensions)\//.test(ctx.path)) return false;
  return ctx.path === '/' || /\btext\/html\b/.test(ctx.get('Accept'));
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
  response.setHeader('Cache-Control', path.startsWith(HASHED) ? FOREVER : 'no-cache');
}

function answerUnchanged(ctx: Koa.Context): void {
  if (ctx.body instanceof ReadStream) ctx.body.destroy();
  ctx.body = null;
  ctx.status = 304;
}
