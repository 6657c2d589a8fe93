import type { RouteScope } from '@svc/contract';
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { HttpError, fail, toEnvelope, toHttpError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { Gate } from './gate.js';
import { admitOrigin, type OriginPolicy } from './origin.js';
import { toRequestId } from './request-id.js';
import type { UpgradeHandler } from './route.js';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const GOING_AWAY = 1001;
const INTERNAL_ERROR = 1011;

export interface UpgradeRoute {
  readonly path: string;
  readonly scope: RouteScope;
  readonly open: UpgradeHandler;
}

export interface UpgradeServer {
  /** Says goodbye to every socket; cuts those that are still there after the grace. */
  close(graceMs: number): Promise<void>;
}

/** WebSocket endpoints. Whoever may not in gets an HTTP answer with the error envelope, not a socket. */
export function serveUpgrades(
  server: Server,
  routes: readonly UpgradeRoute[],
  { gate, policy, log }: { gate: Gate; policy: OriginPolicy; log: Logger },
): UpgradeServer {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    admitOrigin(request, policy);
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const route =
      routes.find(({ path }) => path === pathname) ??
      fail('not_found', `there is no WebSocket at ${pathname}`);
    if (request.headers.upgrade?.toLowerCase() !== 'websocket')
      fail('not_found', 'only WebSocket upgrades are known');
    const caller =
      (await gate(request.headers.authorization, route.scope)) ?? fail('unauthorized', 'a token is needed');
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('error', (err) => log.debug({ err, path: pathname }, 'socket failed'));
      try {
        route.open(webSocket, caller, request);
      } catch (err) {
        log.error({ err, path: pathname }, 'the socket could not be served');
        webSocket.close(INTERNAL_ERROR);
      }
    });
  }

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const requestId = toRequestId(request);
    socket.on('error', () => socket.destroy());
    upgrade(request, socket, head).catch((error: unknown) => {
      const answer = toHttpError(error, requestId);
      if (answer.code === 'internal') log.error({ err: error, request_id: requestId }, 'upgrade failed');
      answerRaw(socket, answer, requestId);
    });
  });

  return {
    async close(graceMs) {
      const cut = setTimeout(() => sockets.clients.forEach((client) => client.terminate()), graceMs);
      const gone = [...sockets.clients].map(
        (client) => new Promise((resolve) => client.once('close', resolve)),
      );
      for (const client of sockets.clients) client.close(GOING_AWAY, 'the server closes');
      await Promise.all(gone);
      clearTimeout(cut);
    },
  };
}

/** Writes an HTTP answer where there is no response object: refused upgrades and requests that are no HTTP. */
export function answerRaw(socket: Duplex, error: HttpError, requestId: string): void {
  if (!socket.writable) return;
  const body = JSON.stringify(toEnvelope(error));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    Connection: 'close',
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n'));
}
