import { expect } from 'chai';
import * as esbuild from 'esbuild';
import path from 'node:path';
import * as contract from '../src/index.js';
import * as protocol from '../src/protocol/index.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The modules that a program loads when it starts; of one in a browser also those that it loads later. */
async function modulesOf(entry: string, platform: 'node' | 'browser'): Promise<string[]> {
  const { outputs } = (await bundle(entry, platform)).metafile;
  const modules = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const { inputs, imports } = outputs[file]!;
    for (const [input, { bytesInOutput }] of Object.entries(inputs))
      if (bytesInOutput > 0) modules.add(input);
    for (const { path: next, kind, external } of imports)
      if (!external && (platform === 'browser' || kind !== 'dynamic-import')) visit(next);
  };
  for (const [file, { entryPoint }] of Object.entries(outputs)) if (entryPoint === entry) visit(file);
  return [...modules];
}

function bundle(entry: string, platform: 'node' | 'browser') {
  return esbuild.build({
    entryPoints: [path.join(ROOT, entry)],
    absWorkingDir: ROOT,
    outdir: 'unused',
    write: false,
    bundle: true,
    metafile: true,
    splitting: true,
    format: 'esm',
    platform,
    conditions: ['svc-source'],
    loader: { '.css': 'empty', '.node': 'empty' },
    logLevel: 'silent',
  });
}

describe('the light entry of the contract', () => {
  const programs = [
    ['contract/src/protocol/index.ts', 'browser'],
    ['agent/src/index.ts', 'node'],
    ['cli/src/run-agent.ts', 'node'],
    ['sdk/typescript/src/index.ts', 'node'],
    ['ui/src/main.ts', 'browser'],
  ] as const;
  for (const [entry, platform] of programs) {
    it(`keeps the schema library out of ${entry}`, async () => {
      const modules = await modulesOf(entry, platform);
      expect(modules).to.include('contract/src/protocol/enums.ts');
      expect(modules.filter((module) => /node_modules\/(typebox|ajv)\//.test(module))).to.deep.equal([]);
    });
  }

  it('gives what the whole contract gives', () => {
    const { parseServerFrame, ...shared } = protocol;
    expect(contract).to.include(shared);
    expect(parseServerFrame('{"type":"unknown"}')).to.equal(null);
  });
});
