import { buildSync } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHIM_FLAGS } from '../../src/agent/shim-pool.js';

/** Where the processes that this one starts find what it has compiled. */
const COMPILED = 'SVC_TEST_SHIM';

/** Starts a shim as production does: plain Node on compiled code, not TypeScript through a loader. Compiled once. */
export function compiledShim(): readonly string[] {
  return [process.execPath, ...SHIM_FLAGS, (process.env[COMPILED] ??= compile())];
}

function compile(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-shim-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const toSource = (name: string) => fileURLToPath(new URL(`../../src/agent/${name}.ts`, import.meta.url));
  buildSync({
    entryPoints: ['shim', 'launcher'].map(toSource),
    outdir: dir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    conditions: ['svc-source'],
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return path.join(dir, 'shim.mjs');
}
