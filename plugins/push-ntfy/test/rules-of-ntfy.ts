import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Message, Ntfy } from './ntfy.js';

const TOPIC = /^\/([-_A-Za-z0-9]{1,64})$/;
const TOKEN = 'tk_0123456789abcdefghijklmnopqrs';
/** A body that reaches it becomes an attachment, which a server refuses that is not set up for them. */
const MESSAGE_LIMIT_BYTES = 4096;
const MOST_WORD_CHARS = 75;
const PRIORITIES: Readonly<Record<string, number>> = {
  '': 0,
  '1': 1,
  min: 1,
  '2': 2,
  low: 2,
  '3': 3,
  default: 3,
  '4': 4,
  high: 4,
  '5': 5,
  max: 5,
  urgent: 5,
};
/** Headers that mean something else to ntfy; a publish of an event has none of them. */
const OTHERS =
  /^(x-)?(click|icon|filename|file|f|attach|a|e-?mail|mail|e|call|message|m|delay|at|in|actions?|markdown|md|template|tpl|unifiedpush|up|poll-id|cache|firebase)$/;

/** A server that takes a publish by the rules of ntfy (docs/publish.md, server/server.go and server/util.go of ntfy 2) and refuses all else. */
export async function rulesOfNtfy(): Promise<Ntfy> {
  const taken: { topic: string; message: Message }[] = [];
  const server = createServer((request, response) => {
    take(request).then(
      (published) => {
        taken.push(published);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"event":"message"}');
      },
      (error: unknown) => response.writeHead(400).end((error as Error).message),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: TOKEN,
    messages: (wanted) =>
      Promise.resolve(taken.flatMap(({ topic, message }) => (topic === wanted ? [message] : []))),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function take(request: IncomingMessage): Promise<{ topic: string; message: Message }> {
  const [, topic = ''] = TOPIC.exec(request.url ?? '') ?? [];
  if (!['POST', 'PUT'].includes(request.method ?? '')) throw new Error(`method ${request.method}`);
  if (topic === '') throw new Error('topic invalid');
  checkHeaders(request);
  const priority = PRIORITIES[read(request, 'x-priority', 'priority', 'prio', 'p').toLowerCase()];
  if (priority === undefined) throw new Error('priority invalid');
  const title = read(request, 'x-title', 'title', 't');
  const tags = read(request, 'x-tags', 'tags', 'tag', 'ta')
    .split(',')
    .flatMap((tag) => (tag === '' ? [] : [tag.trim()]));
  const message = (await readBody(request)) || 'triggered';
  return { topic, message: { title, message, priority, tags } };
}

function checkHeaders({ headers, rawHeaders }: IncomingMessage): void {
  if (headers.authorization !== `Bearer ${TOKEN}`) throw new Error('forbidden');
  const other = Object.keys(headers).find((name) => OTHERS.test(name));
  if (other !== undefined) throw new Error(`header ${other}`);
  // ntfy takes UTF-8 too. What is no ASCII does not pass every proxy.
  const strange = rawHeaders.find((text) => !/^[\x20-\x7e]*$/.test(text));
  if (strange !== undefined) throw new Error(`header ${strange}`);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  if (body.length >= MESSAGE_LIMIT_BYTES) throw new Error('attachments not allowed');
  return new TextDecoder('utf-8', { fatal: true }).decode(body).trim();
}

/** The first header that is there, decoded. */
function read({ headers }: IncomingMessage, ...names: readonly string[]): string {
  const values = names.map((name) => decodeHeader([headers[name] ?? ''].flat().join(', ')).trim());
  return values.find((value) => value !== '') ?? '';
}

const WORD = /=\?utf-8\?b\?([A-Za-z0-9+/=]*)\?=/gi;

/** As Go's mime.WordDecoder does: white space between two encoded words is left out. Each word must hold whole characters. */
function decodeHeader(value: string): string {
  return value.replaceAll(/(\?=)[ \t]+(?==\?)/g, '$1').replaceAll(WORD, (word: string, base64: string) => {
    if (word.length > MOST_WORD_CHARS) throw new Error('an encoded word is too long');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  });
}
