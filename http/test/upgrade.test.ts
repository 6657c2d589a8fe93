import { route } from '@svc/contract';
import { expect } from 'chai';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { WebSocket } from 'ws';
import { ok, type Caller } from '../src/index.js';
import { createTestKernel, type TestKernel } from '@svc/kernel/testing';
import { plugin } from './support.js';

const echo = route({
  id: 'echo',
  method: 'POST',
  path: '/echo',
  scope: 'any',
  summary: '',
  body: Type.Object({ word: Type.String() }),
  answers: { 200: Type.Object({ word: Type.String() }) },
});

describe('upgrade', () => {
  let kernel: TestKernel;
  let callers: Caller[];
  const clients: WebSocket[] = [];

  beforeEach(async () => {
    callers = [];
    const sockets = plugin('sockets', ({ hooks, name }) =>
      hooks.routes.tap(name, (routes) => {
        routes.add(echo, ({ body }) => ok(body));
        routes.upgrade('/agent/ws', 'agent', (socket, caller) => {
          callers.push(caller);
          socket.on('message', (data) => socket.send(`echo ${String(data)}`));
        });
        routes.upgrade('/broken/ws', 'agent', () => {
          throw new Error('boom');
        });
      }),
    );
    kernel = await createTestKernel({ plugins: [sockets], shutdownGraceMs: 100 });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.terminate();
    await kernel.close();
  });

  function dial(path: string, token = 'agent', headers: Record<string, string> = {}): WebSocket {
    const url = `${kernel.url.replace('http', 'ws')}/api/v1${path}`;
    const client = new WebSocket(url, { headers: { Authorization: `Bearer ${token}`, ...headers } });
    clients.push(client);
    return client;
  }

  async function refusal(...call: Parameters<typeof dial>): Promise<[number, string]> {
    const client = dial(...call);
    client.on('error', () => undefined);
    const [, answer] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage];
    const body = await text(answer);
    expect(answer.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    return [answer.statusCode!, JSON.parse(body).error.code];
  }

  it('opens a socket for a caller of the scope', async () => {
    const client = dial('/agent/ws');
    await once(client, 'open');
    client.send('hello');
    const [data] = await once(client, 'message');
    expect(String(data)).to.equal('echo hello');
    expect(callers[0]).to.include({ scope: 'agent', ingest: null });
  });

  it('answers whoever may not in by the envelope, before the upgrade', async () => {
    expect(await refusal('/agent/ws', 'wrong')).to.deep.equal([401, 'unauthorized']);
    expect(await refusal('/agent/ws', 'read')).to.deep.equal([403, 'forbidden']);
    expect(await refusal('/agent/ws', 'agent', { Origin: 'https://evil.example' })).to.deep.equal([
      403,
      'forbidden',
    ]);
    expect(await refusal('/agent/ws', 'agent', { Host: 'evil.example' })).to.deep.equal([403, 'forbidden']);
    expect(await refusal('/nothing/ws')).to.deep.equal([404, 'not_found']);
    expect(callers).to.deep.equal([]);
  });

  it('closes a socket that cannot be served', async () => {
    const [code] = await once(dial('/broken/ws'), 'close');
    expect(code).to.equal(1011);
  });

  it('closes a socket that sends too much at once', async () => {
    const client = dial('/agent/ws');
    await once(client, 'open');
    client.send(Buffer.alloc(16 * 1024 * 1024 + 1));
    const [code] = await once(client, 'close');
    expect(code).to.equal(1009);
  });

  it('says goodbye when the server closes', async () => {
    const client = dial('/agent/ws');
    await once(client, 'open');
    const gone = once(client, 'close');
    await kernel.close();
    expect((await gone)[0]).to.equal(1001);
  });

  it('cuts a socket that does not answer the goodbye', async () => {
    const client = dial('/agent/ws');
    await once(client, 'open');
    client.pause();
    await kernel.close();
  });

  it('answers an offer of another protocol as the ordinary request that it is', async () => {
    const call = request(`${kernel.url}/api/v1/echo`, {
      method: 'POST',
      headers: {
        Connection: 'Upgrade, HTTP2-Settings',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
        'Content-Type': 'application/json',
        Authorization: 'Bearer agent',
      },
    });
    call.end(JSON.stringify({ word: 'hello' }));
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    expect([answer.statusCode, JSON.parse(await text(answer))]).to.deep.equal([200, { word: 'hello' }]);
  });

  it('hangs up on whoever may not in, though the peer never ends its side', async () => {
    const peer = connect({ port: Number(new URL(kernel.url).port), allowHalfOpen: true });
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
    peer.write(`GET /api/v1/agent/ws HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n\r\n`);
    expect(await text(peer)).to.match(/^HTTP\/1.1 401/);
    await kernel.close();
    peer.destroy();
  });
});
