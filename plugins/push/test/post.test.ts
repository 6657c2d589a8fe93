import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { post } from '../src/post.js';

const TIME_LIMIT_MS = 300;
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n';

/** What a target does once it has the request. */
type Behaviour = (socket: Socket) => void;

describe('an HTTP push', () => {
  let server: Server | undefined;
  const sockets = new Set<Socket>();
  const requests: string[] = [];

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    requests.length = 0;
    if (server) await new Promise((resolve) => server?.close(resolve));
    server = undefined;
  });

  async function listen(behave: Behaviour): Promise<string> {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      socket.on('data', (bytes) => requests.push(bytes.toString()));
      socket.once('data', () => behave(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-topic`;
  }

  /** The reason why it failed, and how long it took in ms. */
  async function fail(url: string): Promise<{ reason: string; ms: number }> {
    const startMs = performance.now();
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    const message = { headers: { Authorization: 'Bearer hunter2' }, body: 'b' };
    const error: unknown = await post(url, message, signal).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(Error);
    return { reason: (error as Error).message, ms: performance.now() - startMs };
  }

  const drip = (text: string): Behaviour => {
    return (socket) => {
      let sent = 0;
      const timer = setInterval(() => socket.write(text[sent++ % text.length]!), 20);
      socket.on('close', () => clearInterval(timer));
    };
  };

  const hanging: [string, Behaviour][] = [
    ['never answers', () => undefined],
    ['answers byte by byte', drip('HTTP/1.1 200 OK\r\nX-Slow: yes\r\n')],
    ['never finishes its headers', drip('HTTP/1.1 200 OK\r\n'.padEnd(2000, 'X-More: x\r\n'))],
    [
      'sends headers without an end at full speed',
      (socket) => {
        const timer = setInterval(() => socket.write('X-More: xxxxxxxx\r\n'.repeat(4)), 5);
        socket.write('HTTP/1.1 200 OK\r\n');
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ];
  for (const [what, behave] of hanging)
    it(`to a target that ${what} ends at the time-out, with its connection`, async () => {
      const { ms } = await fail(await listen(behave));
      expect(ms).to.be.below(TIME_LIMIT_MS + 1_000);
      await until(() => sockets.size === 0);
    });

  it('is over with the headers of the answer: its body is not awaited', async () => {
    const url = await listen((socket) => socket.write(`${ANSWER}a`));
    const startMs = performance.now();
    await post(url, { headers: {}, body: 'b' }, AbortSignal.timeout(5_000));
    expect(performance.now() - startMs).to.be.below(2_000);
  });

  it('does not follow a redirect', async () => {
    let wasReached = false;
    const other = createServer((socket) => {
      wasReached = true;
      socket.destroy();
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const url = await listen((socket) =>
      socket.end(`HTTP/1.1 307 Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`),
    );
    expect((await fail(url)).reason).to.equal('the target answered 307');
    expect(wasReached).to.equal(false);
    await new Promise((resolve) => other.close(resolve));
  });

  it('fails for any answer but 2xx', async () => {
    for (const status of [199, 300, 400, 401, 404, 429, 500, 503]) {
      const text = `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
      const url = await listen((socket) => socket.end(text));
      const { reason } = await fail(url);
      if (status >= 300) expect(reason).to.equal(`the target answered ${status}`);
      await new Promise((resolve) => server?.close(resolve));
    }
    server = undefined;
  });

  it('says why a target cannot be reached, and neither where it is nor the token', async () => {
    const url = await listen((socket) => socket.destroy());
    const reasons = [(await fail(url)).reason];
    await new Promise((resolve) => server?.close(resolve));
    server = undefined;
    reasons.push((await fail(url)).reason, (await fail('http://nowhere.invalid/secret-topic')).reason);
    expect(reasons[1]).to.equal('the target cannot be reached (ECONNREFUSED)');
    for (const reason of reasons) expect(reason).to.not.match(/secret-topic|hunter2|127\.0\.0\.1/);
  });
});
