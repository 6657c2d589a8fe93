import { expect } from 'chai';
import { loaderOptions } from '../src/loader-options.js';

describe('the options of the process of the adapter', () => {
  it('are those that load modules, with their values', () => {
    const server = [
      '--import=tsx',
      '--conditions=svc-source',
      '-C',
      'other',
      '--enable-source-maps',
      '--inspect=9229',
      '--eval',
      'import("./server.js")',
      '-p',
      '--test',
      '--watch',
      '-e',
    ];
    expect(loaderOptions(server)).to.deep.equal([
      '--import=tsx',
      '--conditions=svc-source',
      '-C',
      'other',
      '--enable-source-maps',
    ]);
  });
});
