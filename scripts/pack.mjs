// `npm run pack -- DIR`: each package, with its types, as the tarball that npm would publish.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build, modulePackages, moduleSources, step } from './build.mjs';
import { ROOT } from './fingerprint.mjs';
import { Explained, main, run, runNode } from './processes.mjs';

const TYPES = path.join(ROOT, '.cache', 'types');

await main(async () => {
  const folder = path.resolve(process.argv[2] ?? path.join('.cache', 'packages'));
  await build();
  await step('build-types', ['tsconfig.types.json', ...moduleSources()], 'types', emitTypes);
  mkdirSync(folder, { recursive: true });
  await check('npm pack', run('npm', ['pack', '--workspaces', '--silent', '--pack-destination', folder]));
  console.log(`packed into ${folder}`);
});

/** Beside what is built, in the folders of the sources: so declarations refer to each other as sources do. */
async function emitTypes() {
  rmSync(TYPES, { recursive: true, force: true });
  const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  await check('tsc', runNode([tsc, '-p', 'tsconfig.types.json']));
  for (const owner of modulePackages()) {
    const target = path.join(ROOT, owner, 'dist', 'types');
    rmSync(target, { recursive: true, force: true });
    cpSync(path.join(TYPES, owner), target, { recursive: true });
  }
}

async function check(what, running) {
  const { code, output } = await running;
  if (code !== 0) throw new Explained(`${output.trimEnd()}\npack: ${what} failed; its output is above`);
}
