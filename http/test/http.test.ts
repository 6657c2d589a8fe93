import { route, strict } from '@svc/contract';
import { expect } from 'chai';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { fail } from '@svc/validation';
import { download, ok, type RouteCollector } from '../src/index.js';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { failureOf } from '@svc/hooks/testing';
import { plugin } from './support.js';

const Echo = Type.Object({}, { additionalProperties: true });
const answers = { 200: Echo };
const common = { method: 'GET', scope: 'read', summary: '', answers } as const;
const getItem = route({ ...common, id: 'items.get', path: '/items/{item_id}' });
const compare = route({ ...common, id: 'items.compare', path: '/items/compare' });
const putItem = route({
  ...common,
  id: 'items.put',
  method: 'PUT',
  path: '/items/{item_id}',
  scope: 'write',
});
const batch = route({
  ...common,
  id: 'items.batch',
  method: 'POST',
  path: '/items/{item_id}/points:batch',
  scope: 'ingest',
});
const recommend = route({ ...common, id: 'items.recommend', path: '/items:recommend' });
const named = route({ ...common, id: 'named', path: '/definitions/{name:path}' });
const health = route({ ...common, id: 'health', path: '/health', scope: 'none' });
const anyone = route({ ...common, id: 'anyone', path: '/whoami', scope: 'any' });
const crash = route({ ...common, id: 'crash', path: '/crash' });
const lie = route({ ...common, id: 'lie', path: '/lie', answers: { 200: strict({ n: Type.Integer() }) } });
const make = route({
  ...common,
  id: 'make',
  method: 'POST',
  path: '/items',
  scope: 'write',
  answers: { 201: Echo },
});
const file = route({
  id: 'file',
  method: 'GET',
  path: '/file',
  scope: 'read',
  summary: '',
  stream: 'download',
});
const slow = route({ ...common, id: 'slow', path: '/slow' });

let release: () => void = () => undefined;
let slowRequests = 0;

/** In an order that would shadow `compare` if the order decided. */
function addRoutes(routes: RouteCollector): void {
  const echo = ({ params, caller }: { params: object; caller: unknown }) => ok({ ...params, caller });
  routes.add(getItem, ({ params, caller }) =>
    params.item_id === 'none' ? fail('not_found', 'no item') : ok({ ...params, caller }),
  );
  routes.add(compare, () => ok({ compare: true }));
  routes.add(putItem, echo);
  routes.add(batch, echo);
  routes.add(recommend, () => ok({ recommend: true }));
  routes.add(named, echo);
  routes.add(health, echo);
  routes.add(anyone, echo);
  routes.add(crash, () => {
    throw new Error('secret internals');
  });
  routes.add(lie, () => ok({ n: 1.5 }));
  routes.add(make, () => ({ status: 201 as const, body: { made: true }, headers: { 'Retry-After': '3' } }));
  routes.add(file, () =>
    download({
      filename: 'log 日.txt',
      contentType: 'text/plain; charset=utf-8',
      body: Readable.from(['a\n', 'b\n']),
    }),
  );
  routes.add(slow, async ({ signal }) => {
    slowRequests += 1;
    await new Promise<void>((resolve) => {
      release = resolve;
      signal.addEventListener('abort', () => resolve());
    });
    return ok({ aborted: signal.aborted });
  });
}

describe('http', () => {
  let kernel: TestKernel;
  before(async () => {
    const plugins = [plugin('items', ({ hooks, name }) => hooks.routes.tap(name, addRoutes))];
    kernel = await createTestKernel({ plugins, shutdownGraceMs: 2_000 });
  });
  after(() => kernel.close());

  const get = (path: string, token = 'read') => kernel.request('GET', path, { token });
  const codeOf = async (path: string, token?: string) => (await get(path, token)).body.error.code as string;

  describe('paths', () => {
    it('prefer what is literal to what has a parameter, whatever the order', async () => {
      expect((await get('/items/compare')).body).to.deep.equal({ compare: true });
      expect((await get('/items/abc')).body.item_id).to.equal('abc');
    });

    it('may have a colon', async () => {
      expect((await kernel.request('POST', '/items/7/points:batch', { token: 'sdk' })).body.item_id).to.equal(
        '7',
      );
      expect((await get('/items:recommend')).body).to.deep.equal({ recommend: true });
      expect(await codeOf('/itemsXrecommend')).to.equal('not_found');
    });

    it('may take slashes, written plainly or percent-encoded', async () => {
      expect((await get('/definitions/train/loss')).body.name).to.equal('train/loss');
      expect((await get('/definitions/train%2Floss%20%C3%BC')).body.name).to.equal('train/loss ü');
    });

    it('that are malformed, unknown or outside the API are not found, in the envelope', async () => {
      for (const path of ['/items/%ff', '/items/%zz', '/nothing', '/', '/Health', '/items/a/b']) {
        expect(await codeOf(path), path).to.equal('not_found');
      }
      const outside = await fetch(`${kernel.url}/index.html`);
      expect(outside.status).to.equal(404);
      expect(await outside.json()).to.have.nested.property('error.code', 'not_found');
    });

    it('know which methods they take', async () => {
      const { status, headers, body } = await kernel.request('DELETE', '/items/abc', { token: 'write' });
      expect([status, headers.get('allow'), body.error.code]).to.deep.equal([
        405,
        'HEAD, GET, PUT',
        'method_not_allowed',
      ]);
    });

    it('are of one form: what is more specific than an item does not take the methods of one', async () => {
      for (const method of ['PUT', 'DELETE']) {
        const { status, headers } = await kernel.request(method, '/items/compare', { token: 'write' });
        expect([status, headers.get('allow')], method).to.deep.equal([405, 'HEAD, GET']);
      }
      const post = await kernel.request('GET', '/items/abc/points:batch', { token: 'write' });
      expect([post.status, post.headers.get('allow')]).to.deep.equal([405, 'POST']);
    });

    it('answer HEAD as GET, without a body', async () => {
      const { status, body } = await kernel.request('HEAD', '/items/abc', { token: 'read' });
      expect([status, body]).to.deep.equal([200, '']);
    });
  });

  describe('scopes', () => {
    const allowed: Record<string, string[]> = {
      read: ['/items/a'],
      write: ['/items/a', 'PUT /items/a', 'POST /items/a/points:batch'],
      sdk: ['POST /items/a/points:batch'],
      agent: [],
      'ingest:job_1:1': ['POST /items/a/points:batch'],
    };
    for (const [token, paths] of Object.entries(allowed)) {
      it(`of the token ${token}`, async () => {
        for (const call of ['/items/a', 'PUT /items/a', 'POST /items/a/points:batch']) {
          const [path, method = 'GET'] = call.split(' ').reverse() as [string, string?];
          const { status } = await kernel.request(method, path, { token });
          expect(status, call).to.equal(paths.includes(call) ? 200 : 403);
        }
        expect((await get('/whoami', token)).status).to.equal(200);
      });
    }

    it('ask for a token that is good', async () => {
      const none = await kernel.request('GET', '/items/a');
      expect([none.status, none.body.error.code]).to.deep.equal([401, 'unauthorized']);
      expect(none.headers.get('www-authenticate')).to.equal('Bearer');
      expect(await codeOf('/items/a', 'wrong')).to.equal('unauthorized');
      const basic = await kernel.request('GET', '/items/a', { headers: { Authorization: 'Basic cmVhZA==' } });
      expect(basic.status).to.equal(401);
      expect((await kernel.request('GET', '/health')).body).to.deep.equal({ caller: null });
    });

    it('hand the run ingest binding to the handler', async () => {
      const { body } = await kernel.request('POST', '/items/a/points:batch', { token: 'ingest:job_1:2' });
      expect(body.caller.ingest).to.deep.equal({ job_id: 'job_1', attempt: 2 });
    });
  });

  describe('answers', () => {
    it('of a defect tell nothing but the request id', async () => {
      const { status, body, headers } = await get('/crash');
      expect(status).to.equal(500);
      expect(body.error).to.include({ code: 'internal' });
      expect(body.error.details).to.deep.equal({ request_id: headers.get('x-request-id') });
      expect(JSON.stringify(body)).not.to.contain('secret');
    });

    it('carry the request id that the client gave, if it is a sane one', async () => {
      const withId = (id: string) => kernel.request('GET', '/health', { headers: { 'X-Request-Id': id } });
      expect((await withId('abc-1.2')).headers.get('x-request-id')).to.equal('abc-1.2');
      expect((await withId('a b<script>')).headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
    });

    it('are not kept, sniffed, framed or referred', async () => {
      const { headers } = await get('/items/a');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('content-security-policy'))
        .to.contain("default-src 'self'")
        .and.contain("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('x-frame-options')).to.equal('DENY');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).to.equal('same-origin');
    });

    it('isolate the window in what a browser takes for secure alone', async () => {
      const policyOf = (headers: Record<string, string>) => sendTo(kernel.url, headers);
      expect(await policyOf({ Host: 'lab:8600' })).to.equal(undefined);
      expect(await policyOf({ Host: 'lab', 'X-Forwarded-Proto': 'https' })).to.equal('same-origin');
      expect(await policyOf({ Host: 'lab', 'Sec-Fetch-Site': 'none' })).to.equal('same-origin');
      expect(await policyOf({ Host: 'localhost:8600' })).to.equal('same-origin');
    });

    it('may have another status and headers of their own', async () => {
      const { status, headers, body } = await kernel.request('POST', '/items', { token: 'write' });
      expect([status, headers.get('retry-after'), body]).to.deep.equal([201, '3', { made: true }]);
    });

    it('must fit their schema, in tests', async () => {
      expect((await failureOf(() => get('/lie'))).message).to.equal(
        'lie answers 200 with n: must be an integer, not a number',
      );
    });

    it('may be a file', async () => {
      const { headers, body } = await get('/file');
      expect(body).to.equal('a\nb\n');
      expect(headers.get('content-disposition')).to.contain("filename*=UTF-8''log%20%E6%97%A5.txt");
    });
  });

  it('tells a handler that its client went away', async () => {
    const aborter = new AbortController();
    const seen = slowRequests;
    const request = fetch(`${kernel.url}/api/v1/slow`, {
      signal: aborter.signal,
      headers: { Authorization: 'Bearer read' },
    });
    await until(() => slowRequests > seen);
    aborter.abort();
    expect((await failureOf(() => request)).name).to.equal('AbortError');
  });

  it('answers what is no HTTP by the envelope', async () => {
    const { port } = new URL(kernel.url);
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.end('nonsense\r\n\r\n');
    await once(socket, 'close');
    expect(text)
      .to.match(/^HTTP\/1.1 422 /)
      .and.to.contain('"code":"validation_error"');
  });

  it('answers a request without a Host by the envelope', async () => {
    const socket = connect(Number(new URL(kernel.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.write('GET /api/v1/health HTTP/1.1\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    expect(text)
      .to.match(/^HTTP\/1.1 403 /)
      .and.to.contain('"code":"forbidden"');
  });

  describe('at the end', () => {
    it('lets a running request finish, and takes no new one', async () => {
      const own = await createTestKernel({
        plugins: [plugin('items', ({ hooks, name }) => hooks.routes.tap(name, addRoutes))],
        shutdownGraceMs: 5_000,
      });
      const seen = slowRequests;
      const running = own.request('GET', '/slow', { token: 'read' });
      await until(() => slowRequests > seen);
      const closing = own.close();
      await until(
        async () => (await failureOf(() => fetch(`${own.url}/api/v1/health`))).message === 'fetch failed',
      );
      release();
      expect((await running).status).to.equal(200);
      await closing;
    });

    it('cuts a request that does not finish within the grace', async () => {
      const own = await createTestKernel({
        plugins: [plugin('items', ({ hooks, name }) => hooks.routes.tap(name, addRoutes))],
        shutdownGraceMs: 30,
      });
      const seen = slowRequests;
      const running = failureOf(() => own.request('GET', '/slow', { token: 'read' }));
      await until(() => slowRequests > seen);
      await own.close();
      expect((await running).message).to.equal('fetch failed');
    });
  });

  describe('collector', () => {
    const bootWith = (...adds: ((routes: RouteCollector) => void)[]) =>
      failureOf(() =>
        createTestKernel({
          plugins: adds.map((add, i) => plugin(`p${i}`, ({ hooks, name }) => hooks.routes.tap(name, add))),
        }),
      );

    it('refuses two routes that answer the same, also by other parameter names', async () => {
      const other = route({ ...common, id: 'other', path: '/items/{id}' });
      const failure = await bootWith(
        (routes) => routes.add(getItem, () => ok({})),
        (routes) => routes.add(other, () => ok({})),
      );
      expect(failure.message).to.equal('route "GET /items/{}" of plugin "p1" is already added by "p0"');
    });

    it('takes one fallback, which answers outside the API', async () => {
      const add = (routes: RouteCollector) =>
        routes.fallback((ctx) => void (ctx.path === '/hello' && (ctx.body = 'hi')));
      expect((await bootWith(add, add)).message).to.contain('is already added by "p0"');
      const own = await createTestKernel({
        plugins: [plugin('console', ({ hooks, name }) => hooks.routes.tap(name, add))],
      });
      expect(await (await fetch(`${own.url}/hello`)).text()).to.equal('hi');
      expect((await fetch(`${own.url}/nothing`)).status).to.equal(404);
      expect((await fetch(`${own.url}/api/v1/nothing`)).status).to.equal(404);
      await own.close();
    });
  });
});

/** The policy for windows in the answer to a request with these headers; fetch sends no `Host` of a caller. */
async function sendTo(url: string, headers: Record<string, string>): Promise<unknown> {
  const request = http.get(`${url}/api/v1/items/a`, { headers });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer.headers['cross-origin-opener-policy'];
}
