import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createClient } from '@svc/client';
import { routes } from '@svc/contract';
import { HttpError } from '@svc/validation';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpServer } from '../protocol/mcp-server.js';
import { readBody } from './body.js';
import { listen, type Answer, type Listening } from './http-server.js';
import type { AdapterSettings } from './settings.js';

export { DEFAULT_MAX_TOKENS, DEFAULT_PORT, type AdapterSettings } from './settings.js';
export { toClientConfigs } from './client-configs.js';
export { preferSmallMemory } from './small-memory.js';
export type { Listening } from './http-server.js';

/** Of one call of the REST API. */
const CALL_TIMEOUT_MS = 30_000;
const HEALTH_TIMEOUT_MS = 2_000;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Starts to listen. It stores nothing between two requests. */
export async function startAdapter(
  settings: AdapterSettings,
  limits = { callMs: CALL_TIMEOUT_MS },
): Promise<Listening> {
  refuseSharedToken(settings);
  return listen(settings, {
    '/mcp': (request, response) => answerMcp(settings, limits.callMs, request, response),
    '/health': answerHealth(settings),
  });
}

/** Anyone who reaches the adapter would act with that token. */
function refuseSharedToken({ token, host }: AdapterSettings): void {
  if (token === null || /^(localhost|::1|127(\.\d{1,3}){3})$/.test(host)) return;
  throw new Error(
    `with a token of its own (SVC_TOKEN) the adapter listens on loopback alone, not on ${host}: leave the token out, so that each caller sends one`,
  );
}

async function answerMcp(
  settings: AdapterSettings,
  timeoutMs: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST')
    throw new HttpError(
      'method_not_allowed',
      'the endpoint is stateless: it takes POST alone',
      {},
      { Allow: 'POST' },
    );
  const token = readToken(request) ?? settings.token;
  if (token === null)
    throw new HttpError(
      'unauthorized',
      'send a token of svc in the Authorization header: Bearer svc_... (svc token create makes one)',
      {},
      { 'WWW-Authenticate': 'Bearer realm="svc"' },
    );
  const body = await readBody(request);
  const client = createClient({ url: settings.url, token }, { timeoutMs });
  const server = createMcpServer({ client }, { version, maxTokens: settings.maxTokens });
  // Without a session: a transport serves one request.
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.once('close', () => void server.close());
  // The transport has optional fields where its interface has fields that may be undefined.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  await transport.handleRequest(request, response, body);
}

/** null: the request has none. */
function readToken({ headers }: IncomingMessage): string | null {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** The adapter answers also while the server does not. */
function answerHealth({ url }: AdapterSettings): Answer {
  const client = createClient({ url, token: null }, { timeoutMs: HEALTH_TIMEOUT_MS });
  return async (_request, response) => {
    const server = await client.call(routes.getHealth).then(
      () => 'ok',
      () => 'unavailable',
    );
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify({ status: 'ok', version, server }));
  };
}
