import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../test/support/program.js';

const STATIC_IMPORT = /^(?:import|export)\b[^;]*?["']([^"']+)["'];/gms;

/** What the module and all that it needs to start import from outside of the bundle. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const named = [...readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)].map(([, name = '']) => name);
  const below = named
    .filter((name) => name.startsWith('.'))
    .flatMap((name) => [...importsOf(path.join(path.dirname(file), name), seen)]);
  return new Set([...named.filter((name) => !name.startsWith('.')), ...below]);
}

describe('the start of the command line', () => {
  it('loads nothing of the server, which takes half a second', () => {
    const imports = importsOf(path.join(ROOT, 'cli', 'dist', 'main.js'));
    expect(imports).to.include('node:path');
    expect([...imports].filter((name) => !name.startsWith('node:'))).to.deep.equal([]);
  });
});
