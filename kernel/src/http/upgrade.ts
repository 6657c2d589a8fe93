import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { HttpError, fail, toEnvelope, toHttpError } from '../errors.js';
import { admitOrigin } from './origin.js';
import type { HttpParts } from './parts.js';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const GOING_AWAY = 1001;
const INTERNAL_ERROR = 1011;

export interface UpgradeServer {
  /** Says goodbye to every socket; cuts those that are still there after the grace. */
  close(graceMs: number): Promise<void>;
}

/** WebSocket endpoints. Whoever may not in gets an HTTP answer with the error envelope, not a socket. */
export function serveUpgrades(server: Server, { upgrades, gate, config, log }: HttpParts): UpgradeServer {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    admitOrigin(request, config);
    const [path] = (request.url ?? '').split('?');
    const route =
      upgrades.find((known) => known.path === path) ?? fail('not_found', `there is no WebSocket at ${path}`);
    const caller = await gate(request.headers.authorization, route.scope);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('error', (err) => log.debug({ err, path }, 'a socket failed'));
      try {
        route.open(webSocket, caller!, request);
      } catch (err) {
        log.error({ err, path }, 'a socket could not be served');
        webSocket.close(INTERNAL_ERROR);
      }
    });
  }

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    upgrade(request, socket, head).catch((error: unknown) =>
      answerRaw(socket, error, (err) => log.error(err)),
    );
  });

  return {
    async close(graceMs) {
      const clients = [...sockets.clients];
      const cut = setTimeout(() => clients.forEach((client) => client.terminate()), graceMs);
      const gone = clients.map((client) => new Promise((resolve) => client.once('close', resolve)));
      for (const client of clients) client.close(GOING_AWAY, 'the server closes');
      await Promise.all(gone);
      clearTimeout(cut);
    },
  };
}

/** Writes an error envelope where there is no response object: refused upgrades, and requests that are no HTTP. */
export function answerRaw(socket: Duplex, error: unknown, report?: (defect: unknown) => void): void {
  const requestId = randomUUID();
  const answer = toHttpError(error, requestId);
  if (answer.code === 'internal') report?.({ err: error, request_id: requestId });
  if (!socket.writable) return;
  const body = JSON.stringify(toEnvelope(answer));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    Connection: 'close',
    ...answer.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`, ...lines, '', body].join('\r\n'));
}
