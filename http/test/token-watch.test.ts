import { route } from '@svc/contract';
import { expect } from 'chai';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { WebSocket } from 'ws';
import { authenticate } from '@svc/kernel';
import { HttpError } from '@svc/validation';
import { download, sse, type SseStream } from '../src/index.js';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { plugin } from './support.js';

const stream = route({ id: 's', method: 'GET', path: '/stream', scope: 'read', summary: '', stream: 'sse' });
const file = route({ id: 'f', method: 'GET', path: '/file', scope: 'read', summary: '', stream: 'download' });

describe('the token of what is open', () => {
  let kernel: TestKernel;
  let opened: SseStream[];
  let bodies: PassThrough[];
  /** What the hook says of a token; the others are good. */
  let answers: Record<string, () => undefined>;
  const clients: WebSocket[] = [];

  beforeEach(async () => {
    opened = [];
    bodies = [];
    answers = {};
    const auth = plugin('auth', (ctx) => {
      ctx.tap(authenticate, (bearer) => {
        if (answers[bearer]) return answers[bearer]();
        const scope = bearer.startsWith('agent') ? 'agent' : 'read';
        return { token_id: `tok_${bearer}`, name: bearer, scope, ingest: null };
      });
    });
    const streams = plugin('streams', ({ hooks, name }) =>
      hooks.routes.tap(name, (routes) => {
        routes.add(stream, () => sse((given) => void opened.push(given)));
        routes.add(file, () => {
          const body = new PassThrough();
          body.write('the beginning');
          bodies.push(body);
          return download({ contentType: 'text/plain', body });
        });
        routes.upgrade('/ws', 'agent', () => undefined);
      }),
    );
    kernel = await createTestKernel({ plugins: [auth, streams], limits: { tokenCheckMs: 20 } });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.terminate();
    await kernel.close();
  });

  function dial(token: string): WebSocket {
    const headers = { Authorization: `Bearer ${token}` };
    const client = new WebSocket(`${kernel.url.replace('http', 'ws')}/api/v1/ws`, { headers });
    clients.push(client);
    return client;
  }
  const unknown = () => undefined;

  it('ends the streams of a token that is gone, and no others', async () => {
    const gone = await kernel.sse('/stream', { token: 'one' });
    const stays = await kernel.sse('/stream', { token: 'two' });
    answers['one'] = unknown;
    expect(await gone.next()).to.deep.equal({ done: true, value: undefined });
    await until(() => opened[0]!.signal.aborted);
    void opened[1]!.write({ data: 'still here' });
    expect((await stays.take()).data).to.equal('still here');
    await stays.close();
  });

  it('cuts a stream whose client does not take its end', async () => {
    const client = await kernel.sse('/stream', { token: 'one' });
    for (let count = 0; count < 30; count++) void opened[0]!.write({ data: 'x'.repeat(100_000) });
    answers['one'] = unknown;
    await until(() => opened[0]!.signal.aborted, { timeoutMs: 3000 });
    await client.close();
  });

  it('closes a socket with a code and a reason, also when its peer does not answer', async () => {
    const polite = dial('agent-1');
    const silent = dial('agent-2');
    await Promise.all([once(polite, 'open'), once(silent, 'open')]);
    silent.pause();
    answers['agent-1'] = answers['agent-2'] = unknown;
    const [code, reason] = await once(polite, 'close');
    expect([code, String(reason)]).to.deep.equal([4004, 'the token was revoked or has expired']);
    await kernel.close();
  });

  it('cuts a download', async () => {
    const headers = { Authorization: 'Bearer one' };
    const answer = await fetch(`${kernel.url}/api/v1/file`, { headers });
    answers['one'] = unknown;
    const failure = await answer.text().catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error);
    await until(() => bodies[0]!.destroyed);
  });

  it('takes a refusal by the hook for an end, and a failure to find out for none', async () => {
    const refused = await kernel.sse('/stream', { token: 'one' });
    const kept = await kernel.sse('/stream', { token: 'two' });
    let failures = 0;
    answers['two'] = () => {
      failures += 1;
      throw failures % 2 ? new Error('the database is away') : new HttpError('unavailable', 'try again');
    };
    answers['one'] = () => {
      throw new HttpError('unauthorized', 'the token is on a list of stolen ones');
    };
    expect((await refused.next()).done).to.equal(true);
    await until(() => failures > 4);
    expect(opened[1]!.signal.aborted).to.equal(false);
    await kept.close();
  });

  it('asks once for a token however much is open with it, and not when nothing is', async () => {
    let asked = 0;
    const open = await Promise.all([1, 2, 3].map(() => kernel.sse('/stream', { token: 'one' })));
    answers['one'] = () => {
      asked += 1;
      throw new Error('counted');
    };
    const startedAt = performance.now();
    await until(() => asked >= 5);
    expect(performance.now() - startedAt).to.be.greaterThan(4 * 20 - 5);
    await Promise.all(open.map((client) => client.close()));
    await until(() => opened.every(({ signal }) => signal.aborted));
    const after = asked;
    await (await kernel.sse('/stream', { token: 'two' })).close();
    await until(() => opened.every(({ signal }) => signal.aborted));
    expect(asked - after).to.be.at.most(1);
  });
});
