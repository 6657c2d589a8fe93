import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that gives one answer after another to the requests that come; the last one again and again when `isRepeated`. */
export async function withServer(
  answers: Answer[],
  use: (url: string) => Promise<unknown>,
  { isRepeated = false } = {},
): Promise<void> {
  const next = () => (isRepeated && answers.length === 1 ? answers[0] : answers.shift());
  const server = createServer((request, response) => next()?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

export const stream =
  (text: string): Answer =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);

export const refusal =
  (status: number, code: string, details = {}): Answer =>
  (_request, response) =>
    response.writeHead(status).end(JSON.stringify({ error: { code, message: 'the reason', details } }));
