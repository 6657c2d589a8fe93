// Sources to dist: each TypeScript file to one module; the command line with the agent to a few lean files; the console by vite.
// Does nothing when no source has changed since it was last done.
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT, filesBelow, fingerprintOfFiles, isStamped, stamp } from './fingerprint.mjs';
import { Explained, isProgram, main, runNode, secondsSince } from './processes.mjs';

const LIBRARIES = ['contract', 'validation', 'hooks', 'http', 'client', 'signals', 'sdk/typescript'];

const NODE_OPTIONS = {
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'silent',
};

export async function build() {
  await step('build', moduleSources(), 'packages', () => Promise.all([buildModules(), buildCommandLine()]));
  await step('build-ui', uiSources(), 'console', buildUi);
}

/** The step is part of what is fingerprinted, so that a change of this script builds again. */
export async function step(name, sources, label, work) {
  const fingerprint = fingerprintOfFiles(['scripts/build.mjs', 'package-lock.json', ...sources]);
  if (isStamped(name, fingerprint) && distFolders(name).every((folder) => existsSync(folder))) return;
  const startedMs = Date.now();
  await work().catch((error) => {
    throw toSentence(error);
  });
  stamp(name, fingerprint);
  console.log(`build: ${label} in ${secondsSince(startedMs)}`);
}

/** Built file by file: what the server loads, and what third parties import. */
export function modulePackages() {
  const plugins = readdirSync(path.join(ROOT, 'plugins'), { withFileTypes: true });
  const names = plugins.filter((entry) => entry.isDirectory()).map((entry) => `plugins/${entry.name}`);
  return [...LIBRARIES, 'kernel', 'agent', ...names];
}

function distFolders(step) {
  if (step === 'build-types') return modulePackages().map((owner) => path.join(ROOT, owner, 'dist', 'types'));
  const owners = step === 'build-ui' ? ['ui'] : [...modulePackages(), 'cli'];
  return owners.map((owner) => path.join(ROOT, owner, 'dist'));
}

const isModule = (file) => file.endsWith('.ts') && !file.endsWith('.d.ts');

/** What a package exports for the tests of others, as `<package>/testing`. */
function testingFolders() {
  return modulePackages().filter((name) => existsSync(path.join(ROOT, name, 'testing')));
}

export function moduleSources() {
  const folders = [...modulePackages(), 'cli'].map((name) => `${name}/src`);
  const testing = testingFolders().map((name) => `${name}/testing`);
  const sources = [...folders, ...testing].flatMap((folder) => filesBelow(folder, isModule));
  return [...sources, 'svc.agent.config.ts', ...pythonSources().keys()];
}

/** The Python SDK and what stands for it in a job, with their places beside the agent plugin that brings them. */
function pythonSources() {
  const files = filesBelow('sdk/python/svc', (file) => /\.py$|\/py\.typed$/.test(file));
  return new Map([
    ['plugins/python-sdk/python/svc.py', 'python-sdk/entry/svc.py'],
    ...files.map((file) => [file, file.replace(/^sdk\/python\//, 'python-sdk/sdk/')]),
  ]);
}

/** Returns the files that it has written. */
function copyPython(folder) {
  return [...pythonSources()].map(([file, place]) => {
    cpSync(path.join(ROOT, file), path.join(ROOT, folder, place));
    return `${folder}/${place}`;
  });
}

function uiSources() {
  const own = ['src', 'public'].flatMap((folder) => filesBelow(`ui/${folder}`));
  return [
    ...own,
    ...['contract/src', 'client/src'].flatMap((folder) => filesBelow(folder, isModule)),
    'ui/index.html',
    'ui/vite.config.ts',
    'ui/package.json',
  ];
}

async function buildModules() {
  await Promise.all([
    ...modulePackages().map((name) => transform(`${name}/src`, `${name}/dist`)),
    ...testingFolders().map((name) =>
      transform(`${name}/testing`, `${name}/dist/testing`, [atItsBuiltPlace]),
    ),
  ]);
}

async function transform(from, to, plugins = []) {
  const sources = filesBelow(from, isModule);
  if (sources.length === 0) return;
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
  const copied = to === 'plugins/python-sdk/dist' ? copyPython(to) : [];
  removeStale(to, new Set([...Object.keys(metafile.outputs), ...copied]));
}

/** `testing` and `src` are siblings; built, the one lies inside the other. */
const atItsBuiltPlace = {
  name: 'at-its-built-place',
  setup({ onResolve }) {
    onResolve({ filter: /.*/ }, ({ kind, path: specifier }) =>
      kind === 'entry-point'
        ? undefined
        : { path: specifier.replace(/^((?:\.\.\/)*)\.\.\/src\//, '$1../'), external: true },
    );
  },
};

/** dockerode brings them for engines behind SSH and for BuildKit, neither of which the agent uses; the first is compiled for one platform. */
const withoutUnused = {
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    const namespace = 'unused';
    onResolve({ filter: /^(ssh2|@grpc\/(grpc-js|proto-loader))$/ }, ({ path: name }) => ({
      path: name,
      namespace,
    }));
    onLoad({ filter: /.*/, namespace }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
  },
};

/**
 * The command line and, in a chunk of its own, the agent: bundled, they start in a fraction of the time and memory. The
 * shim, the launcher and the Python SDK lie beside them. The server is not part of it: its plugins must share one kernel.
 */
async function buildCommandLine() {
  const { metafile } = await esbuild.build({
    ...NODE_OPTIONS,
    entryPoints: [
      { in: 'cli/src/main.ts', out: 'main' },
      { in: 'cli/src/agent-main.ts', out: 'agent-main' },
      { in: 'plugins/runner-process/src/agent/shim.ts', out: 'shim' },
      { in: 'plugins/runner-process/src/agent/launcher.ts', out: 'launcher' },
    ],
    outdir: 'cli/dist',
    absWorkingDir: ROOT,
    metafile: true,
    bundle: true,
    splitting: true,
    plugins: [withoutUnused],
    conditions: ['svc-source'],
    external: [
      '@svc/kernel',
      '@svc/plugin-auth',
      '@svc/plugin-backup',
      '@svc/plugin-mcp',
      '@svc/plugin-retention',
      'better-sqlite3',
      'yaml',
      'jiti',
    ],
    // Libraries that are CommonJS ask for node's own modules by require.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  removeStale('cli/dist', new Set([...Object.keys(metafile.outputs), ...copyPython('cli/dist')]));
}

/** A module that was renamed or deleted must not live on in dist. dist/testing is written by a transform of its own, dist/types by pack.mjs. */
function removeStale(folder, written) {
  for (const entry of readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })) {
    const file = path
      .relative(ROOT, path.join(entry.parentPath ?? entry.path, entry.name))
      .replaceAll(path.sep, '/');
    const isOthers = ['testing', 'types'].some((name) => file.startsWith(`${folder}/${name}/`));
    if (entry.isFile() && !isOthers && !written.has(file)) rmSync(path.join(ROOT, file));
  }
}

async function buildUi() {
  const vite = path.join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const { code, output } = await runNode([vite, 'build', 'ui', '--logLevel', 'warn']);
  if (code !== 0)
    throw new Explained(`${output.trimEnd()}\nbuild: the console (ui/) does not build; see above`);
}

function toSentence(error) {
  if (!Array.isArray(error?.errors)) return error;
  const places = error.errors.map(({ text, location }) =>
    location ? `${location.file}:${location.line}:${location.column} ${text}` : text,
  );
  return new Explained(`build: ${places.join('\nbuild: ')}`);
}

if (isProgram(import.meta.url)) await main(build);
