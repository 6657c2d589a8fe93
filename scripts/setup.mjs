// Brings a clone to where everything runs: the right Node, the dependencies, the build. Does only what is missing.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, fingerprintOfText, isStamped, stamp } from './fingerprint.mjs';
import { Explained, isProgram, main, run, secondsSince } from './processes.mjs';

const OLDEST_NODE = [20, 19];

export async function setUp() {
  checkNode();
  await installDependencies();
  const { build } = await import('./build.mjs');
  await build();
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Explained(
    `svc needs Node ${OLDEST_NODE.join('.')} or later; this is Node ${process.versions.node}. Get one from https://nodejs.org`,
  );
}

async function installDependencies() {
  const wanted = dependencyFingerprint();
  const isInstalled = existsSync(path.join(ROOT, 'node_modules', '.package-lock.json'));
  if (isInstalled && isStamped('install', wanted)) return;
  const startedMs = Date.now();
  console.log('setup: installing dependencies (the first time this takes a minute or two)');
  // `ci` begins by deleting node_modules, which would pull them away under whatever runs from this clone.
  const how = isInstalled ? ['install', '--no-save'] : ['ci'];
  const { code, output } = await run('npm', [...how, '--no-progress'], { env: compilerEnvironment() });
  if (code !== 0)
    throw new Explained(`${output.trimEnd()}\nsetup: npm ${how[0]} failed; its output is above`);
  stamp('install', wanted);
  console.log(`setup: dependencies installed in ${secondsSince(startedMs)}`);
}

/**
 * What is to lie in node_modules: a change of the lock file that is about our own packages alone installs nothing. Native
 * modules are bound to the platform and to Node's ABI, so those count too.
 */
function dependencyFingerprint() {
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));
  const installed = Object.entries(packages).filter(([place]) => place.includes('node_modules/'));
  const lines = installed.map(([place, { version, integrity, link }]) =>
    [place, version, integrity, link].join(' '),
  );
  return fingerprintOfText(process.platform, process.arch, process.versions.modules, ...lines);
}

/** A native module without a ready binary is compiled: with the headers that came with this Node, where there are any. */
function compilerEnvironment() {
  if (process.env.npm_config_nodedir) return {};
  const prefix = path.resolve(process.execPath, '..', '..');
  const hasHeaders = existsSync(path.join(prefix, 'include', 'node', 'node_version.h'));
  return hasHeaders ? { npm_config_nodedir: prefix } : {};
}

if (isProgram(import.meta.url)) await main(setUp);
