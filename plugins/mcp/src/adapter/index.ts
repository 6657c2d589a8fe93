import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { createClient, type ApiError, type Client } from '@svc/client';
import { routes } from '@svc/contract';
import { HttpError } from '@svc/validation';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpServer } from '../protocol/mcp-server.js';
import { asksServer, refuseBatch, refuseWrongParams } from '../protocol/request.js';
import { readBody } from './body.js';
import { listen, type Answer, type Listening } from './http-server.js';
import type { AdapterSettings } from './settings.js';

export { DEFAULT_MAX_TOKENS, DEFAULT_PORT, type AdapterSettings } from './settings.js';
export { toClientConfigs } from './client-configs.js';
export { preferSmallMemory } from './small-memory.js';
export { toUrl, type Listening } from './http-server.js';

/** Of one call of the REST API. */
const CALL_TIMEOUT_MS = 30_000;
const HEALTH_TIMEOUT_MS = 2_000;
/** Of the question whether a token is known. */
const TOKEN_TIMEOUT_MS = 2_000;

const HOW_TO_GET_ONE = 'svc token create makes one; send it in the Authorization header: Bearer svc_...';

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
  if (token === null) throw unauthorized(`a token of svc is needed: ${HOW_TO_GET_ONE}`);
  const body = await readBody(request);
  refuseBatch(request, body);
  const answer = await exchange({ settings, token, timeoutMs }, request, response, body);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(await answer.text());
}

interface Caller {
  readonly settings: AdapterSettings;
  readonly token: string;
  readonly timeoutMs: number;
}

/** The answer of an MCP server for this one request. Throws HttpError as soon as the REST API refuses the token, so that the client asks for another one. */
function exchange(
  { settings, token, timeoutMs }: Caller,
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const onRefused = ({ code, message }: ApiError): void => {
      if (code === 'unauthorized') reject(unauthorized(`${message}: ${HOW_TO_GET_ONE}`, 'invalid_token'));
    };
    const client = createClient({ url: settings.url, token }, { timeoutMs, onRefused });
    const answer = async (): Promise<Response> => {
      const wrong = refuseWrongParams(body);
      if (wrong || !asksServer(body)) await checkToken(client);
      if (wrong) return Response.json(wrong);
      const server = createMcpServer({ client }, { version, maxTokens: settings.maxTokens });
      response.once('close', () => void server.close());
      // Without a session: a transport serves one request.
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      // The transport has optional fields where its interface has fields that may be undefined.
      await server.connect(transport as Parameters<typeof server.connect>[0]);
      return transport.handleRequest(toWebRequest(request), { parsedBody: body });
    };
    answer().then(resolve, reject);
  });
}

/** A token that the REST API refuses is told by `onRefused`. While it does not answer, what needs no answer of it goes on. */
async function checkToken(client: Client): Promise<void> {
  await client.call(routes.whoami, { timeoutMs: TOKEN_TIMEOUT_MS }).catch(() => undefined);
}

function unauthorized(message: string, error?: string): HttpError {
  const challenge = `Bearer realm="svc"${error === undefined ? '' : `, error="${error}"`}`;
  return new HttpError('unauthorized', message, {}, { 'WWW-Authenticate': challenge });
}

/** The headers alone count: the body has been read, and there is one path. */
function toWebRequest({ headers }: IncomingMessage): Request {
  const given = Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return new Request('http://adapter/mcp', { method: 'POST', headers: given });
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
