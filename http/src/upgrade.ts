import { CLOSE, MAX_FRAME_BYTES } from '@svc/contract';
import { isAnswerable, withLimit } from '@svc/hooks';
import { fail } from '@svc/validation';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { toEnvelope, toHttpError } from './errors.js';
import { admitOrigin } from './origin.js';
import type { HttpParts, ServerParts } from './parts.js';
import { SocketWatch } from './socket-watch.js';

const SETTINGS = { noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false };
const CUT_AFTER_MS = 1_000;

/** WebSocket endpoints. A refused request gets an HTTP answer with the error envelope. */
export function serveUpgrades(server: Server, parts: ServerParts) {
  const { upgrades, authorize, config, log, tokens } = parts;
  const sockets = new WebSocketServer(SETTINGS);
  const watch = new SocketWatch(parts.limits, log);

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    admitOrigin(request, config);
    const [path] = (request.url ?? '').split('?');
    const route =
      upgrades.find((known) => known.path === path) ?? fail('not_found', `no WebSocket at ${path}`);
    const { authorization = '' } = request.headers;
    const caller = await authorize(authorization, route.scope);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('error', (err) => log.debug({ err, path }, 'a socket failed'));
      watch.add(webSocket);
      if (caller)
        webSocket.once(
          'close',
          tokens.watch(authorization, () => endForToken(webSocket)),
        );
      try {
        route.open(webSocket, caller!, request);
      } catch (err) {
        log.error({ err, path }, 'a socket could not be served');
        webSocket.close(CLOSE.internal);
      }
    });
  }

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    upgrade(request, socket, head).catch((error: unknown) => answerRaw(socket, error, parts));
  });

  return {
    /** Closes every socket, and terminates those that are still open after the grace. */
    async close(graceMs: number): Promise<void> {
      watch.close();
      for (const client of sockets.clients) client.close(CLOSE.goingAway, 'the server closes');
      const gone = new Promise((resolve) => sockets.close(resolve));
      const cut = () => sockets.clients.forEach((client) => client.terminate());
      await Promise.all([withLimit(graceMs, () => gone).catch(cut), gone]);
    },
  };
}

function endForToken(socket: WebSocket): void {
  socket.close(CLOSE.tokenRefused, 'the token was revoked or has expired');
  setTimeout(() => socket.terminate(), CUT_AFTER_MS).unref();
}

/** Writes an error envelope where there is no response object: for refused upgrades and malformed requests. */
export function answerRaw(
  socket: Duplex,
  err: unknown,
  { log, explainOutage }: Pick<HttpParts, 'log' | 'explainOutage'>,
): void {
  const request_id = randomUUID();
  const answer = toHttpError(err, request_id, explainOutage);
  if (answer.status >= 500 && !isAnswerable(err)) log.error({ err, request_id }, 'an upgrade failed');
  const body = JSON.stringify(toEnvelope(answer));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': request_id,
    Connection: 'close',
    ...answer.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`, ...lines, '', ''].join('\r\n');
  // Not left half open: a peer that never closes its side would delay the close of the server.
  if (socket.writable) socket.end(head + body, () => socket.destroy());
}
