import { send } from '@koa/send';
import type Koa from 'koa';
import { ReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Extensions } from './extensions.js';

const EXTENSIONS = '/extensions.json';
const INDEX = '/index.html';
/** Files in this folder have a hash of their content in their name. */
const HASHED = '/assets/';
const FOREVER = `public, max-age=${365 * 24 * 60 * 60}, immutable`;

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc</title>
<h1>The console has not been built</h1>
<p>Run <code>npm run build</code> in the directory of the server, then reload this page. The API at <code>/api/v1</code> works without it.</p>
</html>
`;

/**
 * Serves the pages of plugins, the files of `dir`, and index.html for every other page that a browser requests, as the console routes its
 * own paths. Other requests are left unanswered. Must hold: no file outside `dir` and no dot file is sent.
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

/** Only a request that accepts HTML explicitly gets the page: a missing script must be answered with 404. */
function isPage(ctx: Koa.Context): boolean {
  if (/^\/(assets|extensions)\//.test(ctx.path)) return false;
  return ctx.path === '/' || /\btext\/html\b/.test(ctx.get('Accept'));
}

async function sendFile(ctx: Koa.Context, root: string, path: string): Promise<boolean> {
  try {
    const sent = await send(ctx, path, { root, setHeaders: (response) => setCaching(response, path) });
    if (sent === undefined) return false;
  } catch (error) {
    // The file does not exist, or the path leads out of `root` or is invalid.
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
