import { route } from '@svc/contract';
import { expect } from 'chai';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { WebSocket, type WebSocket as ServerSocket } from 'ws';
import { download, ok, sse, type SseStream } from '../src/index.js';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { plugin } from './support.js';

const MIB = 1024 * 1024;
const answers = { 200: Type.Object({ size: Type.Integer() }) };
const upload = route({
  id: 'upload',
  method: 'POST',
  path: '/upload',
  scope: 'read',
  summary: '',
  answers,
  body: Type.Object({ text: Type.String() }),
  bodyLimitBytes: 2 * MIB,
});
const raw = route({
  id: 'raw',
  method: 'GET',
  path: '/raw',
  scope: 'read',
  summary: '',
  stream: 'download',
});
const stream = route({
  id: 'stream',
  method: 'GET',
  path: '/stream',
  scope: 'read',
  summary: '',
  stream: 'sse',
});
const slow = route({ id: 'slow', method: 'GET', path: '/slow', scope: 'read', summary: '', answers });

describe('slow clients', () => {
  let kernel: TestKernel;
  let bodies: Readable[];
  let streams: SseStream[];
  let sockets: ServerSocket[];
  const clients: (Socket | WebSocket)[] = [];
  const limits = {
    headersMs: 100,
    keepAliveMs: 200,
    stalledBodyMs: 300,
    stalledAnswerMs: 800,
    unreadBodyMs: 200,
    pingMs: 50,
    socketBytes: 4 * MIB,
    connections: 20,
  };

  beforeEach(async () => {
    bodies = [];
    streams = [];
    sockets = [];
    const routes = plugin('routes', ({ hooks, name }) =>
      hooks.routes.tap(name, (collector) => {
        collector.add(upload, ({ body }) => ok({ size: body.text.length }));
        collector.add(stream, () => sse((opened) => void streams.push(opened)));
        collector.add(slow, async () => {
          await passed(1700);
          return ok({ size: 0 });
        });
        collector.add(raw, () => {
          const body = Readable.from(endless());
          bodies.push(body);
          return download({ contentType: 'text/plain', body });
        });
        collector.upgrade('/ws', 'agent', (socket) => void sockets.push(socket));
      }),
    );
    kernel = await createTestKernel({ plugins: [routes], limits });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) 'destroy' in client ? client.destroy() : client.terminate();
    await kernel.close();
  });

  function dial(text = ''): Socket {
    const socket = connect(Number(new URL(kernel.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    clients.push(socket);
    socket.write(text);
    return socket;
  }
  const head = (method: string, path: string, more = '') =>
    `${method} /api/v1${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer read\r\n${more}\r\n`;
  const post = (bytes: number) =>
    head('POST', '/upload', `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n`);

  it('are cut when they do not send their headers', async () => {
    expect(await text(dial('GET /api/v1/slow HTTP/1.1\r\nHost: local'))).to.match(
      /^HTTP\/1.1 503.*headers took/s,
    );
    expect(await text(dial())).to.match(/^HTTP\/1.1 503/);
  });

  it('are told when their body has stopped coming, and hung up on', async () => {
    const answer = await text(dial(`${post(100)}{"text"`));
    expect(answer)
      .to.match(/^HTTP\/1.1 503/)
      .and.contain('the body stopped coming');
  });

  it('may take any time for a body that keeps flowing', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(8) });
    const socket = dial(post(body.length));
    const answer = text(socket);
    for (const char of body) {
      await passed(60);
      socket.write(char);
    }
    expect(await answer).to.contain('{"size":8}');
  });

  it('cannot go on sending a body that was refused', async () => {
    const socket = dial(post(10 * MIB));
    const drip = () => {
      socket.write('x');
      return socket.closed;
    };
    await until(drip, { everyMs: 20, timeoutMs: 3000 });
  });

  it('are cut when they do not take their answer', async () => {
    const socket = dial(head('GET', '/raw'));
    socket.pause();
    await until(() => bodies.length === 1);
    await until(() => bodies[0]!.destroyed, { timeoutMs: 3000 });
  });

  it('are cut when they do not take their event stream', async () => {
    const socket = dial(head('GET', '/stream'));
    socket.pause();
    const opened = await until(() => streams[0]);
    const startedAt = performance.now();
    while (!opened!.signal.aborted) await opened!.write({ data: 'x'.repeat(MIB) });
    expect(performance.now() - startedAt).to.be.within(limits.stalledAnswerMs - 50, 3000);
  });

  it('do not cost others what they are owed: a slow handler, and a quiet stream, live on', async () => {
    const client = await kernel.sse('/stream', { token: 'read' });
    expect((await kernel.request('GET', '/slow', { token: 'read' })).status).to.equal(200);
    void streams[0]!.write({ data: 'here' });
    expect((await client.take()).data).to.equal('here');
    await client.close();
  });

  it('lose a connection that they keep idle', async () => {
    const body = '{"text":""}';
    expect(await text(dial(post(body.length) + body))).to.match(/^HTTP\/1.1 200/);
  });

  it('cannot have more connections than there are', async () => {
    const sockets = Array.from({ length: 25 }, () => dial());
    await until(() => sockets.filter(({ closed }) => closed).length >= 5, { timeoutMs: 250 });
    expect(sockets.filter(({ closed }) => closed).length).to.be.lessThan(10);
  });

  describe('of a WebSocket', () => {
    async function open(): Promise<WebSocket> {
      const client = new WebSocket(`${kernel.url.replace('http', 'ws')}/api/v1/ws`, {
        headers: { Authorization: 'Bearer agent' },
      });
      client.on('error', () => undefined);
      clients.push(client);
      await once(client, 'open');
      return client;
    }

    it('are cut when they do not answer pings', async () => {
      const client = await open();
      client.pause();
      await until(() => sockets[0]!.readyState === WebSocket.CLOSED, { timeoutMs: 2000 });
    });

    it('stay when they do', async () => {
      const client = await open();
      let pings = 0;
      client.on('ping', () => (pings += 1));
      await until(() => pings > 8);
      expect(sockets[0]!.readyState).to.equal(WebSocket.OPEN);
    });

    it('are cut when too much waits for them', async () => {
      const client = await open();
      client.pause();
      const gone = once(sockets[0]!, 'close');
      const startedAt = performance.now();
      for (let count = 0; count < 20; count++) sockets[0]!.send(Buffer.alloc(MIB));
      await gone;
      expect(performance.now() - startedAt).to.be.lessThan(150);
    });
  });
});

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024);
}

/** Time itself is what these tests are about. */
async function passed(ms: number): Promise<void> {
  const startedAt = performance.now();
  await until(() => performance.now() - startedAt >= ms);
}
