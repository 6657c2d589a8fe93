import { route } from '@svc/contract';
import { expect } from 'chai';
import { request } from 'node:http';
import { Type } from 'typebox';
import { ok } from '../src/index.js';
import { createTestKernel, type TestKernel, type TestKernelOptions } from '@svc/kernel/testing';
import { plugin } from './support.js';

const health = route({
  id: 'health',
  method: 'GET',
  path: '/health',
  scope: 'none',
  summary: '',
  answers: { 200: Type.Unknown() },
});
const plugins = [
  plugin('health', ({ hooks, name }) => hooks.routes.tap(name, (routes) => routes.add(health, () => ok({})))),
];

/** With a Host and an Origin of the caller's choice, which fetch would not send. */
function call({ url }: TestKernel, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>(
    (resolve, reject) => {
      const sent = request(`${url}/api/v1/health`, { headers, method }, (answer) => {
        let text = '';
        answer.on('data', (chunk) => (text += String(chunk)));
        answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      });
      sent.on('error', reject).end();
    },
  );
}

async function withKernel(
  options: Partial<TestKernelOptions>,
  check: (kernel: TestKernel) => Promise<void>,
): Promise<void> {
  const kernel = await createTestKernel({ plugins, ...options });
  await check(kernel).finally(() => kernel.close());
}

async function expectHosts(kernel: TestKernel, status: number, ...hosts: string[]): Promise<void> {
  for (const host of hosts) expect((await call(kernel, { host })).status, host).to.equal(status);
}

describe('origin', () => {
  it('on loopback, takes loopback names alone', () =>
    withKernel({}, async (kernel) => {
      await expectHosts(
        kernel,
        200,
        'localhost',
        'LOCALHOST:1',
        'svc.localhost:8600',
        '127.0.0.1',
        '127.9.9.9:80',
        '[::1]:8600',
      );
      await expectHosts(
        kernel,
        403,
        'evil.example',
        '127.0.0.1.evil.example',
        'localhost.evil.example',
        'xlocalhost',
      );
    }));

  it('on loopback, takes also names that are allowed, as of a proxy', () =>
    withKernel({ allowedHosts: ['svc.example'] }, async (kernel) => {
      await expectHosts(kernel, 200, 'svc.example', 'localhost');
      await expectHosts(kernel, 403, 'evil.example');
    }));

  it('elsewhere, takes any name unless some are configured', async () => {
    await withKernel({ host: '0.0.0.0' }, (kernel) =>
      expectHosts(kernel, 200, 'gpu-host.example', 'localhost'),
    );
    await withKernel({ host: '0.0.0.0', allowedHosts: ['svc.example'] }, async (kernel) => {
      await expectHosts(kernel, 200, 'svc.example:8600');
      await expectHosts(kernel, 403, 'gpu-host.example');
    });
  });

  it('takes calls of its own pages, and of no others', () =>
    withKernel({}, async (kernel) => {
      const host = 'localhost:8600';
      expect((await call(kernel, { host, origin: 'http://localhost:8600' })).status).to.equal(200);
      for (const origin of ['http://localhost:9999', 'https://evil.example', 'null', 'file://']) {
        const { status, text, headers } = await call(kernel, { host, origin });
        expect(status, origin).to.equal(403);
        expect(JSON.parse(text).error.code).to.equal('forbidden');
        expect(headers['access-control-allow-origin']).to.equal(undefined);
      }
    }));

  it('lets allowed origins read answers, errors too', () =>
    withKernel({ allowedOrigins: ['https://lab.example'] }, async (kernel) => {
      const origin = 'https://lab.example';
      const { status, headers } = await call(kernel, { host: 'localhost', origin });
      expect([status, headers['access-control-allow-origin'], headers['vary']]).to.deep.equal([
        200,
        origin,
        'Origin',
      ]);
      const preflight = await call(
        kernel,
        { host: 'localhost', origin, 'Access-Control-Request-Method': 'POST' },
        'OPTIONS',
      );
      expect(preflight.status).to.equal(204);
      expect(preflight.headers['access-control-allow-headers']).to.contain('Authorization');
      expect(
        (await call(kernel, { host: 'localhost', origin }, 'POST')).headers['access-control-allow-origin'],
      ).to.equal(origin);
    }));
});
