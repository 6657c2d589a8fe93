import http from 'node:http';

export interface Sent {
  readonly method?: string;
  /** As it goes over the wire, from `/` on. */
  readonly path: string;
  readonly token?: string | null;
  readonly body?: Buffer | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The loopback address that it comes from; left out: 127.0.0.1. */
  readonly from?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly sizeBytes: number;
}

const SHOWN_BYTES = 64 * 1024;
const PATIENCE_MS = 60_000;

/** Sends requests to one server over a few connections that are kept. A stream of events is left once its head is there. */
export class Sender {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 32 });

  constructor(readonly url: string) {}

  send({ method = 'GET', path, token = null, body, headers = {}, from }: Sent): Promise<Answer> {
    const { hostname, port } = new URL(this.url);
    const all = {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const options = {
        hostname,
        port,
        method,
        path,
        headers: all,
        agent: this.#agent,
        timeout: PATIENCE_MS,
        ...(from !== undefined && { localAddress: from }),
      };
      const request = http.request(options, (response) => void readAnswer(response).then(resolve, reject));
      request.once('error', reject);
      request.once('timeout', () => request.destroy(new Error(`${method} ${path.slice(0, 80)}: no answer`)));
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function readAnswer(response: http.IncomingMessage): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  if (headers['content-type']?.startsWith('text/event-stream')) response.destroy();
  else
    for await (const piece of response as AsyncIterable<Buffer>) {
      if (sizeBytes < SHOWN_BYTES) pieces.push(piece);
      sizeBytes += piece.length;
    }
  return { status, headers, text: Buffer.concat(pieces).toString(), sizeBytes };
}

/** What is wrong with an answer to whatever was sent: null, or a sentence. Only a database that is away may be told by 503. */
export function faultOf({ status, headers, text }: Answer): string | null {
  if (status >= 500 || status < 200) return `answered ${status}: ${text.slice(0, 300)}`;
  if (typeof headers['x-request-id'] !== 'string') return `answered ${status} without X-Request-Id`;
  if (status < 400) return null;
  const { error } = parse(text) as { error?: { code?: unknown; message?: unknown; details?: unknown } };
  const isEnvelope =
    typeof error?.code === 'string' && typeof error.message === 'string' && typeof error.details === 'object';
  return isEnvelope ? null : `answered ${status} without the error envelope: ${text.slice(0, 300)}`;
}

function parse(text: string): object {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    return {};
  }
}
