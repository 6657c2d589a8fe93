import { expect } from 'chai';
import { html } from 'lit';
import { Registry, definePage, defineRunTab, type Page } from '../src/pages/registry.js';

const page = (name: string, path: string, more: Partial<Page> = {}): Page =>
  definePage({ name, title: name, path, load: async () => {}, render: () => html``, ...more });
const tab = (name: string) => defineRunTab({ name, label: name, load: async () => {}, render: () => html`` });

describe('the registry of pages', () => {
  const registry = new Registry([
    page('run', '/runs/:id'),
    page('runs', '/runs'),
    page('compare', '/runs/compare'),
    page('part', '/runs/:id/:part'),
    page('raw', '/runs/:id/raw'),
  ]);

  const matches: [path: string, page: string | null, params: Record<string, string>][] = [
    ['/runs', 'runs', {}],
    ['/runs/', 'runs', {}],
    ['/runs/run_1', 'run', { id: 'run_1' }],
    ['/runs/run_1/', 'run', { id: 'run_1' }],
    ['/runs/compare', 'compare', {}],
    ['/runs/run_1/raw', 'raw', { id: 'run_1' }],
    ['/runs/run_1/more', 'part', { id: 'run_1', part: 'more' }],
    ['/runs/a%20b%2Fc', 'run', { id: 'a b/c' }],
    ['/runs/%', 'run', { id: '%' }],
    ['/runs/a/b/c', null, {}],
    ['/runs//', null, {}],
    ['/Runs', null, {}],
    ['/', null, {}],
    ['//', null, {}],
    ['/runsX', null, {}],
  ];
  for (const [path, name, params] of matches) {
    it(`finds ${name ?? 'no page'} at ${path}`, () => {
      const match = registry.match(path);
      expect(match?.page.name ?? null).to.equal(name);
      expect(match?.params ?? {}).to.deep.equal(params);
    });
  }

  it('finds the page at / there alone', () => {
    const pages = new Registry([page('start', '/'), page('runs', '/runs')]);
    expect(pages.match('/')?.page.name).to.equal('start');
    expect(pages.match('//')).to.equal(null);
    expect(pages.match('/runs/')?.page.name).to.equal('runs');
  });

  it('keeps the order in which pages were added', () => {
    expect(registry.pages.map(({ name }) => name)).to.deep.equal(['run', 'runs', 'compare', 'part', 'raw']);
  });

  it('takes pages later, after which they are found', () => {
    const later = new Registry();
    expect(later.match('/a')).to.equal(null);
    later.addPage(page('a', '/a'));
    expect(later.match('/a')?.page.name).to.equal('a');
  });

  it('refuses a second page of a name, and of a path that fits the same addresses', () => {
    expect(() => registry.addPage(page('run', '/other'))).to.throw('two pages of the name "run"');
    expect(() => registry.addPage(page('other', '/runs/:run_id'))).to.throw(
      'the page "other" has the path of the page "run": /runs/:run_id',
    );
    expect(registry.pages).to.have.length(5);
  });

  it('refuses a second run tab of a name', () => {
    const tabs = new Registry([], [tab('overview')]);
    expect(() => tabs.addRunTab(tab('overview'))).to.throw('two run tabs of the name "overview"');
    tabs.addRunTab(tab('raw'));
    expect(tabs.runTabs.map(({ name }) => name)).to.deep.equal(['overview', 'raw']);
  });
});
