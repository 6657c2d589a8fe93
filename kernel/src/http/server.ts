import { createServer, IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BootError, HttpError } from '../errors.js';
import type { Address } from '../plugin.js';
import { withLimit } from '../with-limit.js';
import { createApp } from './app.js';
import type { HttpParts } from './parts.js';
import { answerRaw, serveUpgrades } from './upgrade.js';

export interface HttpServer {
  listen(): Promise<Address>;
  /** Stops listening, lets running requests end within the grace, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/** An offer of h2c, as curl and Java make it, is not taken up: that request is an ordinary one. WebSockets alone are upgrades. */
class Request extends IncomingMessage {
  get upgrade(): boolean {
    return this.headers.upgrade?.toLowerCase() === 'websocket';
  }
  // What the parser makes of it.
  set upgrade(_isAnyOffered: boolean) {}
}

export function createHttpServer(parts: HttpParts): HttpServer {
  const answer = createApp(parts).callback();
  const server = createServer({ requireHostHeader: false, IncomingMessage: Request }, (request, response) => {
    response.setMaxListeners(0);
    // A connection that is kept alive would keep a closing server waiting.
    response.once('close', () => parts.closing.aborted && setImmediate(() => server.closeIdleConnections()));
    void answer(request, response);
  });
  const sockets = serveUpgrades(server, parts);
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const message = 'the request is malformed HTTP';
    const malformed = new HttpError('validation_error', message, { errors: [{ path: '', message }] });
    const tooLarge = new HttpError('payload_too_large', 'the headers are too large');
    answerRaw(socket, code === 'HPE_HEADER_OVERFLOW' ? tooLarge : malformed, parts.log);
  });
  return {
    listen: () => listen(server, parts.config),
    async close(graceMs) {
      const closed = new Promise((resolve) => server.close(resolve));
      const cut = withLimit(graceMs, () => closed).catch(() => server.closeAllConnections());
      await Promise.all([cut, closed, sockets.close(graceMs)]);
    },
  };
}

function listen(server: Server, { host, port }: HttpParts['config']): Promise<Address> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const why = code === 'EADDRINUSE' ? 'the port is taken; set another by SVC_PORT or port' : message;
      reject(new BootError(`cannot listen on ${host}:${port}: ${why}`, 'port'));
    });
    server.listen(port, host, () => {
      const bound = server.address() as AddressInfo;
      resolve({ host: bound.address, port: bound.port, url: toUrl(bound.address, bound.port) });
    });
  });
}

/** The address that a client on this host can use. */
export function toUrl(host: string, port: number): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
