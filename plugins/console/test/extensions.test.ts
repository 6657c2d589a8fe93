import { createTestKernel, type TestKernel } from '@svc/kernel/testing';
import { definePlugin, type Plugin } from '@svc/kernel';
import {
  console as consolePlugin,
  consoleRef,
  type ConsolePage,
  type ConsoleRunTab,
} from '@svc/plugin-console';
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MODULE = 'export default ({ lit }) => class extends lit.LitElement {};';
const SECRET = 'export default "kept from everybody";';

describe('pages that plugins add to the console', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-console-extensions-'));
  const module = join(dir, 'page.js');
  let kernel: TestKernel;
  let list: { pages: Record<string, string>[]; run_tabs: Record<string, string>[] };

  before(async () => {
    writeFileSync(module, MODULE);
    writeFileSync(join(dir, 'secret.js'), SECRET);
    const pages = [
      { name: 'ranking', title: 'Ranking', module },
      { name: 'report', title: 'Report', path: '/reports/:id', icon: 'events', module },
    ];
    kernel = await createTestKernel({
      plugins: [
        consolePlugin({ dir: join(dir, 'dist') }),
        adding(pages, [{ name: 'raw', label: 'Raw', module }]),
      ],
    });
    list = (await (await fetch(`${kernel.url}/extensions.json`)).json()) as typeof list;
  });
  after(async () => {
    await kernel.close();
    rmSync(dir, { recursive: true });
  });

  it('are listed with what the navigation and the router need', () => {
    expect(list.pages.map(({ module: _, ...page }) => page)).to.deep.equal([
      { name: 'ranking', title: 'Ranking', path: '/ranking', icon: null },
      { name: 'report', title: 'Report', path: '/reports/:id', icon: 'events' },
    ]);
    expect(list.run_tabs.map(({ name, label }) => [name, label])).to.deep.equal([['raw', 'Raw']]);
  });

  it('are listed afresh after a restart of the server', async () => {
    const { headers } = await fetch(`${kernel.url}/extensions.json`);
    expect(headers.get('cache-control')).to.equal('no-cache');
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
  });

  it('have modules that a browser runs, keeps for a year, and loads from the server alone', async () => {
    for (const { module: path } of [...list.pages, ...list.run_tabs]) {
      const answer = await fetch(kernel.url + path!);
      expect(await answer.text()).to.equal(MODULE);
      expect(answer.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
      expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(answer.headers.get('content-security-policy')).to.include("default-src 'self'");
    }
  });

  it('have addresses that change with their content', () => {
    expect(list.pages[0]!['module']).to.match(/^\/extensions\/page-ranking-[0-9a-f]{16}\.js$/);
  });

  for (const path of [
    '/extensions/secret.js',
    '/extensions/page.js',
    '/extensions/../secret.js',
    '/extensions/%2e%2e/secret.js',
    '/extensions/',
    '/extensions',
    '/extensions/page-ranking-0000000000000000.js',
  ]) {
    it(`serve nothing at ${path}, whatever lies beside a module`, async () => {
      const answer = await fetch(kernel.url + path);
      expect(answer.status).to.equal(404);
      expect(await answer.text()).not.to.include(SECRET);
    });
  }

  it('answer a missing module as missing to a browser too, not as a page', async () => {
    const answer = await fetch(`${kernel.url}/extensions/gone.js`, { headers: { Accept: 'text/html' } });
    expect(answer.status).to.equal(404);
  });

  const page = (changes: Partial<ConsolePage>): ConsolePage => ({
    name: 'a',
    title: 'A',
    module,
    ...changes,
  });
  const wrong: [string, () => Plugin, RegExp][] = [
    ['a name that is no name', () => adding([page({ name: 'My Page' })]), /"my-page", not "My Page"/],
    ['two of one name', () => adding([page({}), page({ path: '/b' })]), /two pages of the name "a"/],
    [
      'two of one path',
      () => adding([page({}), page({ name: 'b', path: '/a' })]),
      /"a" and "b" have one path: \/a/,
    ],
    [
      'the name of a page of the console',
      () => adding([page({ name: 'jobs', path: '/mine' })]),
      /"jobs": give/,
    ],
    ['the path of a page of the console', () => adding([page({ path: '/runs/:run' })]), /page "run" lies/],
    ['the name of a tab of the console', () => adding([], [tab('code')]), /a run tab of the name "code"/],
    [
      'two paths for the same addresses',
      () => adding([page({ path: '/a/:x' }), page({ name: 'b', path: '/a/:y' })]),
      /"a" and "b" have one path: \/a\/:y/,
    ],
    ['a path of the API', () => adding([page({ path: '/api/v1/jobs' })]), /cannot lie at \/api\/v1\/jobs/],
    ['a path of the assets', () => adding([page({ path: '/assets' })]), /cannot lie at \/assets/],
    ['a path without a slash', () => adding([page({ path: 'a' })]), /cannot lie at a; .* \/a/],
    ['a path with a query', () => adding([page({ path: '/a?b=c' })]), /cannot lie at/],
    ['a relative module', () => adding([page({ module: './page.js' })]), /absolute path.*\.\/page\.js/],
    ['a module that is not there', () => adding([page({ module: join(dir, 'gone.js') })]), /gone\.js/],
    ['two run tabs of one name', () => adding([], [tab('a'), tab('a')]), /two run tabs of the name "a"/],
    ['a run tab whose name is none', () => adding([], [tab('A')]), /"my-run-tab", not "A"/],
  ];
  const tab = (name: string): ConsoleRunTab => ({ name, label: 'Tab', module });
  for (const [what, plugin, message] of wrong) {
    it(`stop the boot when they have ${what}`, async () => {
      const error = await createTestKernel({ plugins: [consolePlugin(), plugin()] }).then(
        async (started) => {
          await started.close();
          return expect.fail('it started');
        },
        (cause: unknown) => cause as Error,
      );
      expect(error.message).to.match(message);
      expect(error.message).to.include('adding-pages');
    });
  }
});

function adding(pages: readonly ConsolePage[], tabs: readonly ConsoleRunTab[] = []): Plugin {
  return definePlugin({
    name: 'adding-pages',
    requires: ['console'],
    setup(ctx) {
      const service = ctx.use(consoleRef);
      for (const page of pages) service.addPage(page);
      for (const tab of tabs) service.addRunTab(tab);
    },
  })();
}
