import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ResolvedConfig } from '../config/config.js';
import { BootError, HttpError } from '../errors.js';
import type { Address } from '../plugin.js';
import { createApp, type AppParts } from './app.js';
import { answerRaw, serveUpgrades, type UpgradeRoute } from './upgrade.js';
import { toRequestId } from './request-id.js';

export interface HttpServer {
  listen(): Promise<Address>;
  /** Stops listening, lets running requests end within the grace, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

export type HttpParts = AppParts & {
  readonly upgrades: readonly UpgradeRoute[];
  readonly config: Pick<ResolvedConfig, 'host' | 'port'>;
};

export function createHttpServer(parts: HttpParts): HttpServer {
  const answer = createApp(parts).callback();
  const server = createServer((request, response) => {
    // A connection that is kept alive would keep a closing server waiting.
    response.once('close', () => parts.closing.aborted && setImmediate(() => server.closeIdleConnections()));
    response.setMaxListeners(0);
    void answer(request, response);
  });
  const sockets = serveUpgrades(server, parts.upgrades, parts);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
    const [code, message] = isTooLarge
      ? (['payload_too_large', 'the headers are too large'] as const)
      : (['validation_error', 'the request is malformed HTTP'] as const);
    const details = isTooLarge ? {} : { errors: [{ path: '', message }] };
    answerRaw(socket, new HttpError(code, message, details), toRequestId({ headers: {} } as never));
  });

  return {
    async listen() {
      await listening(server, parts.config);
      const { address, port } = server.address() as AddressInfo;
      return { host: address, port, url: toUrl(address, port) };
    },
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await sockets.close(graceMs);
      await closed;
      clearTimeout(cut);
    },
  };
}

function listening(server: Server, { host, port }: HttpParts['config']): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const why = code === 'EADDRINUSE' ? 'the port is taken; set another by SVC_PORT or port' : message;
      reject(new BootError(`cannot listen on ${host}:${port}: ${why}`, 'port'));
    });
    server.listen(port, host, () => resolve());
  });
}

/** The address that a client on this host can use. */
export function toUrl(host: string, port: number): string {
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
}
