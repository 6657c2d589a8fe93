import type { MetricPoint } from '@svc/contract';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: { readonly points?: MetricPoint[] } & Record<string, unknown>;
}

/** Takes every request, or answers it with the status that `refuse` gives for it. */
export interface RecordingServer {
  readonly url: string;
  /** All that came, those that were refused too. */
  readonly requests: Request[];
  /** Those that were taken. */
  readonly taken: Request[];
  refuse: (request: Request) => number | null;
  /** What something else than svc answers to everything. */
  foreign: string | null;
  /** What is answered to `fill`. */
  kept: Record<string, string>;
  /** Of requests that were taken. */
  points(): MetricPoint[];
  close(): Promise<void>;
}

export async function startRecordingServer(): Promise<RecordingServer> {
  const requests: Request[] = [];
  const taken: Request[] = [];
  const server = createServer((message, response) => {
    void read(message).then((request) => {
      requests.push(request);
      if (recording.foreign !== null) return void response.end(recording.foreign);
      const status = recording.refuse(request);
      if (status === null) taken.push(request);
      const error = { error: { code: 'unavailable', message: 'not now', details: {} } };
      const { kept } = recording;
      const run = { id: 'run_1', name: 'made', ingest_token: 'ingest', status: 'RUNNING', kept };
      response.writeHead(status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === null ? run : error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const recording: RecordingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    taken,
    refuse: () => null,
    foreign: null,
    kept: {},
    points: () => taken.flatMap(({ body }) => body.points ?? []),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return recording;
}

async function read(message: IncomingMessage): Promise<Request> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  return {
    method: message.method ?? '',
    path: message.url ?? '',
    key: message.headers['idempotency-key'] as string | undefined,
    body: (text === '' ? {} : JSON.parse(text)) as Request['body'],
  };
}
