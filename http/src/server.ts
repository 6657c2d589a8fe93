import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BootError, withLimit } from '@svc/hooks';
import { HttpError } from '@svc/validation';
import { createApp } from './app.js';
import type { HttpLimits } from './limits.js';
import type { HttpParts } from './parts.js';
import { OpenStreams } from './open-streams.js';
import { TokenWatch } from './token-watch.js';
import { answerRaw, serveUpgrades } from './upgrade.js';

const CHECK_HEADERS_EVERY_MS = 2_000;

export interface Address {
  readonly host: string;
  readonly port: number;
  /** `http://host:port`, as a client on this host can use it. */
  readonly url: string;
}

export interface HttpServer {
  listen(): Promise<Address>;
  /** Stops listening, lets running requests end within the grace, then closes the remaining connections. */
  close(graceMs: number): Promise<void>;
}

/** Only a WebSocket request is an upgrade. A request that offers h2c, as those of curl and Java, is answered as an ordinary one. */
class Request extends IncomingMessage {
  get upgrade(): boolean {
    return this.headers.upgrade?.toLowerCase() === 'websocket';
  }
  // The parser sets it for every kind of upgrade.
  set upgrade(_isAnyOffered: boolean) {}
}

export function createHttpServer(given: HttpParts): HttpServer {
  const { limits, log } = given;
  const tokens = new TokenWatch(given.authorize, limits.tokenCheckMs);
  const parts = { ...given, tokens, streams: new OpenStreams(limits) };
  const answer = createApp(parts).callback();
  const server = createServer(toSettings(limits), (request, response) => {
    response.setMaxListeners(0);
    cutWhenStalled(request, response, limits);
    // An idle keep-alive connection would delay the close of the server.
    response.once('close', () => parts.closing.aborted && setImmediate(() => server.closeIdleConnections()));
    void answer(request, response);
  });
  server.maxConnections = limits.connections;
  server.timeout = limits.stalledAnswerMs;
  server.on('drop', () =>
    log.warn(`a connection was closed: the server keeps ${limits.connections} at once`),
  );
  const sockets = serveUpgrades(server, parts);
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const message = 'the request is malformed HTTP';
    const malformed = new HttpError('validation_error', message, { errors: [{ path: '', message }] });
    const known: Record<string, HttpError> = {
      HPE_HEADER_OVERFLOW: new HttpError('payload_too_large', 'the headers are too large'),
      ERR_HTTP_REQUEST_TIMEOUT: new HttpError('unavailable', 'the headers took too long; send them at once'),
    };
    answerRaw(socket, known[code ?? ''] ?? malformed, parts);
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

function toSettings({ headersMs, headerBytes, keepAliveMs }: HttpLimits) {
  return {
    requireHostHeader: false,
    IncomingMessage: Request,
    maxHeaderSize: headerBytes,
    headersTimeout: headersMs,
    // No limit for the whole request: a large upload may take long, as long as it flows.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(headersMs, CHECK_HEADERS_EVERY_MS),
    keepAliveTimeout: keepAliveMs,
  };
}

/**
 * A socket without traffic emits `timeout`. If its client does not send or receive, it is closed; if the handler is still working, the
 * time-out starts again.
 */
function cutWhenStalled(request: IncomingMessage, response: ServerResponse, limits: HttpLimits): void {
  const { socket } = request;
  if ('transfer-encoding' in request.headers || Number(request.headers['content-length']) > 0) {
    socket.setTimeout(limits.stalledBodyMs);
    request.once('end', () => socket.setTimeout(limits.stalledAnswerMs));
  }
  response.on('timeout', () => {
    const isBodyAwaited = request.readableFlowing === true && !request.complete;
    const isHandled = isBodyAwaited && request.listenerCount('timeout') > 0;
    if (socket.writableLength > 0 || (isBodyAwaited && !isHandled)) socket.destroy();
    else socket.setTimeout(limits.stalledAnswerMs);
  });
  response.once('finish', () => {
    if (!request.complete)
      setTimeout(() => request.complete || socket.destroy(), limits.unreadBodyMs).unref();
  });
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
