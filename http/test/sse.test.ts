import { route } from '@svc/contract';
import { expect } from 'chai';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sse, type SseStream } from '../src/index.js';
import { createTestKernel, fakeClock, until, type TestKernel } from '@svc/kernel/testing';
import { plugin } from './support.js';

const stream = route({
  id: 'stream',
  method: 'GET',
  path: '/stream',
  scope: 'read',
  summary: '',
  stream: 'sse',
});

describe('sse', () => {
  const clock = fakeClock();
  let open: (stream: SseStream) => void | Promise<void>;
  let opened: SseStream[];
  let kernel: TestKernel;

  beforeEach(async () => {
    opened = [];
    open = () => undefined;
    const streams = plugin('streams', ({ hooks, name }) =>
      hooks.routes.tap(name, (routes) =>
        routes.add(stream, () =>
          sse((given) => {
            opened.push(given);
            return open(given);
          }),
        ),
      ),
    );
    kernel = await createTestKernel({ plugins: [streams], clock, shutdownGraceMs: 1_000 });
  });
  afterEach(() => kernel.close());
  const connectTo = (options = {}) => kernel.sse('/stream', { token: 'read', ...options });

  it('a client of a test that reads later misses nothing', async () => {
    const client = await connectTo();
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    for (let count = 0; count < 3; count += 1) {
      await delay(20);
      collectGarbage();
    }
    void opened[0]!.write({ data: 1 });
    expect((await client.take()).data).to.equal(1);
    await client.close();
  });

  it('carries ids, names and data as they are', async () => {
    open = async (given) => {
      await given.write({ id: 0, data: { text: 'a\nb: ü', ':': null } });
      await given.write({ id: 'evt_1', event: 'note', data: ': no comment' });
      await given.write({ data: [1, 2] });
      given.end();
    };
    const events = [];
    for await (const event of await connectTo()) events.push(event);
    expect(events).to.deep.equal([
      { id: '0', event: null, data: { text: 'a\nb: ü', ':': null } },
      { id: 'evt_1', event: 'note', data: ': no comment' },
      { id: null, event: null, data: [1, 2] },
      { id: null, event: 'end', data: {} },
    ]);
  });

  it('is not buffered or transformed on its way', async () => {
    const client = await connectTo();
    expect(client.headers.get('content-type')).to.equal('text/event-stream');
    expect(client.headers.get('cache-control')).to.contain('no-transform');
    expect(client.headers.get('x-accel-buffering')).to.equal('no');
    await client.close();
  });

  it('tells where the client was', async () => {
    await (await connectTo({ lastEventId: 'evt_7' })).close();
    await (await connectTo()).close();
    expect(opened.map(({ lastEventId }) => lastEventId)).to.deep.equal(['evt_7', null]);
  });

  it('beats every 15 seconds', async () => {
    const client = await connectTo({ comments: true });
    expect((await client.take()).data).to.equal('ok');
    await clock.advance(30_000);
    expect([(await client.take()).data, (await client.take()).data]).to.deep.equal([
      'heartbeat',
      'heartbeat',
    ]);
    await client.close();
  });

  it('says when the client is gone, and lets late writes go', async () => {
    const client = await connectTo();
    await client.close();
    await until(() => opened[0]!.signal.aborted);
    await opened[0]!.write({ data: 1 });
    opened[0]!.end();
  });

  it('closes when its handler fails', async () => {
    open = async (given) => {
      await given.write({ data: 1 });
      throw new Error('boom');
    };
    const events = [];
    for await (const event of await connectTo()) events.push(event.data);
    expect(events).to.deep.equal([1]);
  });

  it('closes without an end event when the server closes', async () => {
    const client = await connectTo();
    const rest = (async () => {
      const events = [];
      for await (const event of client) events.push(event);
      return events;
    })();
    await kernel.close();
    expect(await rest).to.deep.equal([]);
  });

  it('holds a replay back to the pace of its client, and cuts a live client that is too slow', async () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    let written = 0;
    open = async (given) => {
      for (; written < 1000 && !given.signal.aborted; written++) await given.write({ data: megabyte });
    };
    const socket = connect(Number(new URL(kernel.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer read\r\n\r\n');
    socket.pause();
    await until(() => opened.length === 1 && written > 0);
    let before = -1;
    await until(() => written === before || ((before = written), false), { everyMs: 100 });
    expect(written).to.be.lessThan(100);
    expect(opened[0]!.signal.aborted).to.equal(false);
    for (let count = 0; count < 5; count++) void opened[0]!.write({ data: megabyte });
    await until(() => opened[0]!.signal.aborted);
    socket.destroy();
  });

  it('answers HEAD without opening', async () => {
    expect((await kernel.request('HEAD', '/stream', { token: 'read' })).status).to.equal(200);
    expect(opened).to.deep.equal([]);
  });
});
