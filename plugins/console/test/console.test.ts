import { createTestKernel, type TestKernel } from '@svc/kernel/testing';
import { console as consolePlugin } from '@svc/plugin-console';
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const INDEX = '<!doctype html><title>console</title>';
const SECRET = 'kept from everybody';
const SCRIPT = 'export const answer = 42;';
const ASSET = '/assets/index-4f3a9c1b.js';
const COPIES = { br: brotliCompressSync(SCRIPT), gzip: gzipSync(SCRIPT) };

describe('console', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-console-'));
  const dir = join(root, 'dist');
  let kernel: TestKernel;

  before(async () => {
    mkdirSync(join(dir, 'assets'), { recursive: true });
    writeFileSync(join(dir, 'index.html'), INDEX);
    writeFileSync(join(dir, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    writeFileSync(join(dir, '.secret'), SECRET);
    writeFileSync(join(dir, 'index.html.br'), brotliCompressSync(INDEX));
    writeFileSync(join(dir, ASSET), SCRIPT);
    writeFileSync(join(dir, `${ASSET}.br`), COPIES.br);
    writeFileSync(join(dir, `${ASSET}.gz`), COPIES.gzip);
    writeFileSync(join(root, 'secret.txt'), SECRET);
    writeFileSync(join(root, 'dist-secret'), SECRET);
    kernel = await createTestKernel({ plugins: [consolePlugin({ dir })] });
  });
  after(async () => {
    await kernel.close();
    rmSync(root, { recursive: true });
  });

  interface Answer {
    readonly status: number;
    readonly headers: Record<string, string | string[] | undefined>;
    readonly body: string;
  }

  /** Sends the path exactly as it stands, which fetch would not. */
  function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
    const { hostname, port } = new URL(kernel.url);
    return new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const body = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode!, headers: response.headers, body });
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  }
  const page = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  for (const path of [
    '/',
    '/jobs',
    '/jobs/job_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    '/runs/compare?ids=1,2',
    '/index.html',
    '/runs/%',
    '/%ff',
  ]) {
    it(`answers a browser that opens ${path} with the page, which is never cached unasked`, async () => {
      const { status, headers, body } = await get(path, page);
      expect([status, body]).to.deep.equal([200, INDEX]);
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(headers['cache-control']).to.equal('no-cache');
      expect(headers['content-security-policy']).to.include("default-src 'self'");
    });
  }

  it('answers a malformed path with 404 to who asks for no page, and below /api to everybody', async () => {
    const asked: [string, Record<string, string>][] = [
      ['/runs/%', {}],
      ['/assets/%.js', page],
      ['/api/v1/runs/%', page],
    ];
    for (const [path, headers] of asked) {
      const { status, body } = await get(path, headers);
      expect([status, JSON.parse(body).error.code], path).to.deep.equal([404, 'not_found']);
    }
  });

  it('answers / to whoever asks', async () => {
    expect((await get('/')).body).to.equal(INDEX);
  });

  it('answers files that carry a hash in their name for a year', async () => {
    const { status, headers, body } = await get(ASSET);
    expect([status, body]).to.deep.equal([200, SCRIPT]);
    expect(headers['content-type']).to.match(/javascript/);
    expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
  });

  it('answers other files so that browsers ask again, and 304 when they have them', async () => {
    const { status, headers } = await get('/favicon.svg');
    expect([status, headers['content-type'], headers['cache-control']]).to.deep.equal([
      200,
      'image/svg+xml',
      'no-cache',
    ]);
    const again = await get('/favicon.svg', { 'If-Modified-Since': String(headers['last-modified']) });
    expect([again.status, again.body]).to.deep.equal([304, '']);
  });

  const encodings: [accepted: string, sent: string | undefined, length: number][] = [
    ['gzip, deflate, br, zstd', 'br', COPIES.br.length],
    ['gzip', 'gzip', COPIES.gzip.length],
    ['br;q=0, gzip', 'gzip', COPIES.gzip.length],
    ['identity', undefined, SCRIPT.length],
    ['zstd', undefined, SCRIPT.length],
  ];
  for (const [accepted, sent, length] of encodings) {
    it(`answers ${sent ?? 'the file itself'} to who accepts ${accepted}, and says that others get another answer`, async () => {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await get(ASSET, { 'Accept-Encoding': accepted }, method);
        expect([status, headers['content-encoding']]).to.deep.equal([200, sent]);
        expect(headers['content-length']).to.equal(String(length));
        expect(headers['vary']).to.match(/Accept-Encoding/i);
        expect(headers['content-type']).to.equal('text/javascript; charset=utf-8');
        expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
      }
    });
  }

  it('answers the page compressed at every path, and 304 to who has it', async () => {
    const asked = { ...page, 'Accept-Encoding': 'br' };
    const { headers } = await get('/jobs', asked);
    expect([headers['content-encoding'], headers['content-type'], headers['cache-control']]).to.deep.equal([
      'br',
      'text/html; charset=utf-8',
      'no-cache',
    ]);
    const again = await get('/jobs', { ...asked, 'If-Modified-Since': String(headers['last-modified']) });
    expect([again.status, again.body]).to.deep.equal([304, '']);
    expect(again.headers['vary']).to.match(/Accept-Encoding/i);
  });

  it('answers a copy that is asked for by its own name as bytes that nothing runs', async () => {
    const { headers } = await get(`${ASSET}.br`, { 'Accept-Encoding': 'br' });
    expect(headers['content-encoding']).to.equal(undefined);
    expect(headers['content-type'] ?? '').not.to.match(/javascript|html/);
    expect(headers['x-content-type-options']).to.equal('nosniff');
  });

  it('answers HEAD without a body', async () => {
    const { status, headers, body } = await get('/', {}, 'HEAD');
    expect([status, body]).to.deep.equal([200, '']);
    expect(headers['content-length']).to.equal(String(INDEX.length));
  });

  const missing: [string, Record<string, string>, string][] = [
    ['/assets/gone-11111111.js', page, 'GET'],
    ['/assets/', page, 'GET'],
    ['/nothing.js', { Accept: '*/*' }, 'GET'],
    ['/api', page, 'GET'],
    ['/api/v1/nothing', page, 'GET'],
    ['/api/v2/jobs', page, 'GET'],
    ['/', page, 'POST'],
    ['/favicon.svg', page, 'DELETE'],
  ];
  for (const [path, headers, method] of missing) {
    it(`answers ${method} ${path} as an error, not as a page`, async () => {
      const { status, body } = await get(path, headers, method);
      expect([status, JSON.parse(body).error.code]).to.deep.equal([404, 'not_found']);
    });
  }

  const traversals = [
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/assets/../../secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/..%5csecret.txt',
    '/%2e%2e%2fdist-secret',
    '//../secret.txt',
    '/..%252fsecret.txt',
    '/.secret',
    '/assets/../.secret',
    '/favicon.svg%00.html',
    '/%00',
    '/%',
    `/${'x'.repeat(300)}`,
  ];
  for (const path of traversals) {
    it(`sends nothing of the host for ${path.slice(0, 40)}`, async () => {
      const { status, body } = await get(path);
      expect(status).to.equal(404);
      expect(body).not.to.include(SECRET);
      expect((await get(path, page)).body).not.to.include(SECRET);
    });
  }
});

describe('console that has not been built', () => {
  let kernel: TestKernel;
  const dir = mkdtempSync(join(tmpdir(), 'svc-console-'));
  before(async () => {
    kernel = await createTestKernel({ plugins: [consolePlugin({ dir })] });
  });
  after(async () => {
    await kernel.close();
    rmSync(dir, { recursive: true });
  });

  it('says so, and how to build it', async () => {
    const answer = await fetch(`${kernel.url}/jobs`, { headers: { Accept: 'text/html' } });
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
      503,
      'text/html; charset=utf-8',
    ]);
    expect(await answer.text()).to.include('npm run build');
  });

  it('is served as soon as it is built', async () => {
    writeFileSync(join(dir, 'index.html'), INDEX);
    expect(await (await fetch(kernel.url)).text()).to.equal(INDEX);
  });
});

describe('console options', () => {
  it('find the built console by themselves', async () => {
    const kernel = await createTestKernel({ plugins: [consolePlugin()] });
    const answer = await fetch(kernel.url);
    expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(answer.status).to.be.oneOf([200, 503]);
    await answer.text();
    await kernel.close();
  });

  it('refuse what they do not know', async () => {
    const plugin = consolePlugin({ directory: 'x' } as never);
    const error = await createTestKernel({ plugins: [plugin] }).then(
      () => expect.fail('it started'),
      (cause: unknown) => cause as Error,
    );
    expect(error.message).to.include('console').and.include('directory');
  });
});
