import { route } from '@svc/contract';
import { expect } from 'chai';
import { request } from 'node:http';
import { sse, type SseStream } from '../src/index.js';
import { OpenStreams } from '../src/open-streams.js';
import { createTestKernel, until, type SseClient, type TestKernel } from '@svc/kernel/testing';
import { plugin } from './support.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const stream = route({
  id: 'stream',
  method: 'GET',
  path: '/stream',
  scope: 'any',
  summary: '',
  stream: 'sse',
});

describe('open streams', () => {
  let kernel: TestKernel;
  let opened: SseStream[];
  let hold: Promise<void>;
  const clients: SseClient[] = [];

  beforeEach(async () => {
    opened = [];
    hold = Promise.resolve();
    const streams = plugin('streams', ({ hooks, name }) =>
      hooks.routes.tap(name, (routes) =>
        routes.add(stream, async () => {
          await hold;
          return sse((given) => void opened.push(given));
        }),
      ),
    );
    const limits = { streams: 4, streamsPerToken: 3, streamBytes: MIB };
    kernel = await createTestKernel({ plugins: [streams], limits });
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await kernel.close();
  });

  async function open(token: string, count: number): Promise<void> {
    for (let opening = 0; opening < count; opening++) clients.push(await kernel.sse('/stream', { token }));
  }
  const refusal = async (token: string) => {
    const answer = await kernel.request('GET', '/stream', { token });
    return [answer.status, answer.body.error.code, answer.headers.get('retry-after')];
  };

  it('are so many for a token, and so many for all', async () => {
    await open('read', 3);
    expect(await refusal('read')).to.deep.equal([429, 'rate_limited', '10']);
    await open('write', 1);
    expect(await refusal('sdk')).to.deep.equal([503, 'unavailable', '10']);
  });

  it('leave their place when they end', async () => {
    await open('read', 3);
    await clients.pop()!.close();
    await until(() => opened[2]!.signal.aborted);
    await open('read', 1);
    opened[0]!.end();
    await until(() => opened[0]!.signal.aborted);
    await open('read', 1);
  });

  it('take no place when their client was gone before they began', async () => {
    let release = () => {};
    hold = new Promise((resolve) => (release = resolve));
    for (let count = 0; count < 5; count++) {
      const call = request(`${kernel.url}/api/v1/stream`, { headers: { Authorization: 'Bearer read' } });
      call.on('error', () => undefined).end();
      await new Promise((resolve) => call.once('socket', (socket) => socket.once('connect', resolve)));
      call.destroy();
    }
    await until(async () => (await kernel.request('GET', '/nothing')).status === 404);
    release();
    await open('read', 3);
  });

  it('share the memory: the more are open, the less may be on its way to each', async () => {
    const { enter, share } = sharing(256 * MIB);
    expect(share()).to.equal(4 * MIB);
    for (let count = 0; count < 1000; count++) enter();
    expect(share()).to.be.within(262 * KIB, 263 * KIB);
    for (let count = 0; count < 9000; count++) enter();
    expect(share()).to.equal(128 * KIB);
  });

  it('take one message over their share while nothing else is on its way', async () => {
    await open('read', 3);
    const large = 'x'.repeat(800 * KIB);
    void opened[0]!.write({ data: large });
    expect((await clients[0]!.take()).data).to.equal(large);
    for (let count = 0; count < 20; count++) void opened[1]!.write({ data: large });
    await until(() => opened[1]!.signal.aborted);
    expect(opened[0]!.signal.aborted).to.equal(false);
  });
});

function sharing(streamBytes: number) {
  const streams = new OpenStreams({ streams: 10_000, streamsPerToken: 10_000, streamBytes });
  return { enter: () => streams.enter('tok'), share: () => streams.bytesPerStream };
}
