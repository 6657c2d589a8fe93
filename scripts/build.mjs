// Sources to dist: each TypeScript file to one module, the agent to one lean file, the console by vite.
// Does nothing when no source has changed since it was last done.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT, filesBelow, fingerprintOfFiles, isStamped, stamp } from './fingerprint.mjs';
import { Explained, isProgram, main, runNode, secondsSince } from './processes.mjs';

const NODE_OPTIONS = { platform: 'node', format: 'esm', target: 'node20', sourcemap: true, logLevel: 'silent' };

export async function build() {
  await step('build', moduleSources(), 'packages', () => Promise.all([buildModules(), buildAgent()]));
  await step('build-ui', uiSources(), 'console', buildUi);
}

/** The step is part of what is fingerprinted, so that a change of this script builds again. */
async function step(name, sources, label, work) {
  const fingerprint = fingerprintOfFiles(['scripts/build.mjs', 'package-lock.json', ...sources]);
  if (isStamped(name, fingerprint) && distFolders(name).every((folder) => existsSync(folder))) return;
  const startedMs = Date.now();
  await work();
  stamp(name, fingerprint);
  console.log(`build: ${label} in ${secondsSince(startedMs)}`);
}

function packages() {
  const plugins = readdirSync(path.join(ROOT, 'plugins'), { withFileTypes: true });
  const names = plugins.filter((entry) => entry.isDirectory()).map((entry) => `plugins/${entry.name}`);
  return ['contract', 'kernel', 'agent', 'cli', ...names];
}

function distFolders(step) {
  const owners = step === 'build-ui' ? ['ui'] : packages();
  return owners.map((owner) => path.join(ROOT, owner, 'dist'));
}

const isModule = (file) => file.endsWith('.ts') && !file.endsWith('.d.ts');

function moduleSources() {
  const folders = [...packages().map((name) => `${name}/src`), 'kernel/testing'];
  return folders.flatMap((folder) => filesBelow(folder, isModule));
}

function uiSources() {
  const own = ['src', 'public'].flatMap((folder) => filesBelow(`ui/${folder}`));
  return [...own, ...filesBelow('contract/src', isModule), 'ui/index.html', 'ui/vite.config.ts', 'ui/package.json'];
}

async function buildModules() {
  await Promise.all([
    ...packages().map((name) => transform(`${name}/src`, `${name}/dist`)),
    transform('kernel/testing', 'kernel/dist/testing', [atItsBuiltPlace]),
  ]);
}

async function transform(from, to, plugins = []) {
  const sources = filesBelow(from, isModule);
  const { metafile } = await esbuild.build({
    ...NODE_OPTIONS,
    entryPoints: sources,
    outbase: from,
    outdir: to,
    absWorkingDir: ROOT,
    metafile: true,
    // With plugins, imports are resolved (all to external), which a plain transform leaves alone.
    ...(plugins.length > 0 && { bundle: true, plugins }),
  });
  removeStale(to, new Set(Object.keys(metafile.outputs)));
}

/** kernel/testing and kernel/src are siblings; built, the one lies inside the other. */
const atItsBuiltPlace = {
  name: 'at-its-built-place',
  setup({ onResolve }) {
    onResolve({ filter: /.*/ }, ({ kind, path: specifier }) =>
      kind === 'entry-point' ? undefined : { path: specifier.replace(/^((?:\.\.\/)*)\.\.\/src\//, '$1../'), external: true },
    );
  },
};

/** A module that was renamed or deleted must not live on in dist. Folders that another step writes are left alone. */
function removeStale(folder, written) {
  const own = folder === 'kernel/dist' ? (file) => !file.startsWith('kernel/dist/testing/') : () => true;
  const bundled = (file) => path.basename(file).startsWith('svc-agent');
  for (const entry of readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.relative(ROOT, path.join(entry.parentPath ?? entry.path, entry.name)).replaceAll(path.sep, '/');
    if (own(file) && !bundled(file) && !written.has(file)) rmSync(path.join(ROOT, file));
  }
}

async function buildAgent() {}

async function buildUi() {
  const vite = path.join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const { code, output } = await runNode([vite, 'build', 'ui', '--logLevel', 'warn']);
  if (code !== 0) throw new Explained(`${output.trimEnd()}\nbuild: the console (ui/) does not build; see above`);
}

function toSentence(error) {
  if (!Array.isArray(error?.errors)) return error;
  const places = error.errors.map(({ text, location }) =>
    location ? `${location.file}:${location.line}:${location.column} ${text}` : text,
  );
  return new Explained(`build: ${places.join('\nbuild: ')}`);
}

if (isProgram(import.meta.url)) {
  await main(() =>
    build().catch((error) => {
      throw toSentence(error);
    }),
  );
}
