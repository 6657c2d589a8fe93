import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What ntfy makes of a publish. */
export interface Published {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly eventId: string | undefined;
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

const TOPIC = /^\/([-_A-Za-z0-9]{1,64})$/;
const MOST_MESSAGE_BYTES = 4096;
const PRIORITIES: Readonly<Record<string, number>> = {
  ...{ '': 0, '1': 1, min: 1, '2': 2, low: 2, '3': 3, default: 3, '4': 4, high: 4 },
  ...{ '5': 5, max: 5, urgent: 5 },
};
/** Headers that mean something else to ntfy; a publish of an event has none of them. */
const OTHERS =
  /^(x-)?(click|icon|filename|file|f|attach|a|e-?mail|mail|e|call|message|m|delay|at|in|actions?|markdown|md|template|tpl|unifiedpush|up|poll-id|cache|firebase)$/;

/** A server that takes a publish by the rules of ntfy (docs/publish.md, server/server.go and server/util.go of ntfy 2) and refuses all else. */
export class NtfyServer {
  readonly published: Published[] = [];
  readonly refusals: string[] = [];
  #server: Server | undefined;

  async listen(): Promise<string> {
    this.#server = createServer((request, response) => {
      this.#take(request).then(
        (published) => {
          this.published.push(published);
          response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"event":"message"}');
        },
        (error: unknown) => {
          this.refusals.push((error as Error).message);
          response.writeHead(400).end((error as Error).message);
        },
      );
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    this.#server?.close();
    if (this.#server) await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage): Promise<Published> {
    const [, topic = ''] = TOPIC.exec(request.url ?? '') ?? [];
    if (!['POST', 'PUT'].includes(request.method ?? '')) throw new Error(`method ${request.method}`);
    if (topic === '') throw new Error('topic invalid');
    const other = Object.keys(request.headers).find((name) => OTHERS.test(name));
    if (other !== undefined) throw new Error(`header ${other}`);
    const priority = PRIORITIES[read(request, 'x-priority', 'priority', 'prio', 'p').toLowerCase()];
    if (priority === undefined) throw new Error('priority invalid');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (body.length > MOST_MESSAGE_BYTES) throw new Error('the body becomes an attachment: too long');
    const message = new TextDecoder('utf-8', { fatal: true }).decode(body).trim();
    return {
      ...{ topic, priority, message: message === '' ? 'triggered' : message, headers: request.headers },
      title: read(request, 'x-title', 'title', 't'),
      tags: read(request, 'x-tags', 'tags', 'tag', 'ta')
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
      eventId: request.headers['x-event-id'] as string | undefined,
      authorization: request.headers.authorization,
    };
  }
}

/** The first header that is there, decoded. */
function read({ headers }: IncomingMessage, ...names: readonly string[]): string {
  const values = names.map((name) => decodeHeader([headers[name] ?? ''].flat().join(', ')).trim());
  return values.find((value) => value !== '') ?? '';
}

const WORD = /=\?utf-8\?b\?([A-Za-z0-9+/=]*)\?=/gi;
const MOST_WORD_CHARS = 75;

/** As Go's mime.WordDecoder does: white space between two encoded words is left out. Each word must hold whole characters. */
export function decodeHeader(value: string): string {
  return value.replaceAll(/(\?=)[ \t]+(?==\?)/g, '$1').replaceAll(WORD, (word: string, base64: string) => {
    if (word.length > MOST_WORD_CHARS) throw new Error('an encoded word is too long');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  });
}
