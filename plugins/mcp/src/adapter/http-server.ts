import { admitOrigin } from '@svc/http/origin';
import { HttpError } from '@svc/validation';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AdapterSettings } from './settings.js';

const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
};
/** Where a name is allowed. */
const REMEDIES = {
  host: 'svc mcp --allowed-host, or mcp({ allowed_hosts }) in svc.config.ts',
  origin: 'svc mcp --allowed-origin, or mcp({ allowed_origins }) in svc.config.ts',
};
const MOST_CONNECTIONS = 1_000;

/** Answers a request, or throws HttpError. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface Listening {
  readonly url: string;
  /** Lets running requests end within the grace, then closes what is left. */
  close(graceMs: number): Promise<void>;
}

/** `paths`: who answers at each path. Must hold: no page of a foreign site reaches any of them. */
export async function listen(
  settings: AdapterSettings,
  paths: Readonly<Record<string, Answer>>,
): Promise<Listening> {
  const server = createServer(LIMITS, (request, response) => void route(settings, paths, request, response));
  server.maxConnections = MOST_CONNECTIONS;
  await bind(server, settings);
  const { address, port } = server.address() as AddressInfo;
  return {
    url: toUrl(address, port),
    close: (graceMs) => end(server, graceMs),
  };
}

/** By which a client on this host reaches what listens there. */
export function toUrl(address: string, port: number): string {
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function route(
  settings: AdapterSettings,
  paths: Readonly<Record<string, Answer>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const origin = admitOrigin(request, settings, REMEDIES);
    if (origin !== null) allowOrigin(response, origin);
    if (origin !== null && request.method === 'OPTIONS') return void response.writeHead(204).end();
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const answer = Object.hasOwn(paths, path) ? paths[path] : undefined;
    if (!answer) throw new HttpError('not_found', `there is nothing at this path; the MCP endpoint is /mcp`);
    await answer(request, response);
  } catch (error) {
    answerError(request, response, error);
  }
}

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Vary', 'Origin');
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  response.setHeader(
    'Access-Control-Allow-Headers',
    'authorization, content-type, accept, mcp-protocol-version',
  );
}

const RPC_CODES: Readonly<Partial<Record<number, number>>> = { 400: -32700, 500: -32603 };

/** As an error of JSON-RPC, which every client of MCP shows. */
function answerError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const { status, message, headers } = toRefusal(error);
  if (response.headersSent) return void response.destroy();
  const body = { jsonrpc: '2.0', id: null, error: { code: RPC_CODES[status] ?? -32000, message } };
  // What is left of a refused body is not read.
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(!request.complete && { connection: 'close' }),
    ...headers,
  });
  response.end(JSON.stringify(body));
}

function toRefusal(error: unknown): { status: number; message: string; headers: Record<string, string> } {
  if (error instanceof HttpError)
    return { status: error.status, message: error.message, headers: error.headers };
  if (error instanceof SyntaxError || error instanceof TypeError)
    return { status: 400, message: 'the body is not JSON', headers: {} };
  return { status: 500, message: 'the adapter has a defect', headers: {} };
}

function bind(server: Server, { host, port }: AdapterSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const why =
        code === 'EADDRINUSE'
          ? 'the port is taken; choose another one: --port of svc mcp, mcp({ port }) in svc.config.ts'
          : message;
      reject(new Error(`cannot listen on ${host}:${port}: ${why}`));
    });
    server.listen(port, host, resolve);
  });
}

async function end(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  // A connection whose request has ended meanwhile would be kept for the next one.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}
