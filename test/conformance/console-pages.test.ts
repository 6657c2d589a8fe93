import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { OWN_PAGES, OWN_RUN_TABS } from '../../plugins/console/src/own-pages.js';
import { ROOT } from '../support/program.js';

const TEXT = readFileSync(path.join(ROOT, 'ui/src/pages/pages.ts'), 'utf8');

describe('what plugins cannot take in the console', () => {
  it('is the name and path of each page of its own', () => {
    const pages = [...TEXT.matchAll(/definePage\(\{\s*name: '([^']+)',[^}]*?path: '([^']+)'/g)];
    expect(pages).to.have.lengthOf(TEXT.split('definePage({').length - 1);
    expect(OWN_PAGES).to.deep.equal(Object.fromEntries(pages.map(([, name, at]) => [name, at])));
  });

  it('is the name of each run tab of its own', () => {
    const tabs = [...TEXT.matchAll(/defineRunTab\(\{\s*name: '([^']+)'/g)].map(([, name]) => name);
    expect(OWN_RUN_TABS).to.deep.equal(tabs);
  });
});
