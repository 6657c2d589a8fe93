import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT, startProgram, type Ended } from './program.js';

/** What a plugin is written and tested with. */
const TOOLS = ['@types/chai', '@types/mocha', '@types/node', 'chai', 'mocha', 'tsx', 'typescript'];

let packing: Promise<string> | null = null;

/** Runs a program in that folder, with nothing of the environment of the tests; rejects when it fails. */
export async function runIn(dir: string, program: string, ...args: string[]): Promise<Ended> {
  const ended = await startIn(dir, program, ...args);
  if (ended.status !== 0) throw new Error(`${program} ${args.join(' ')}\n${ended.stdout}\n${ended.stderr}`);
  return ended;
}

/** As `runIn`, however it ends. */
export function startIn(dir: string, program: string, ...args: string[]): Promise<Ended> {
  const { PATH, HOME } = process.env;
  return startProgram(program, args, { PATH, HOME }, dir).ended;
}

/** A tool that is installed in that folder. */
export function startTool(dir: string, tool: string, ...args: string[]): Promise<Ended> {
  return startIn(dir, path.join(dir, 'node_modules', '.bin', tool), ...args);
}

/**
 * Installs every package of svc into that empty folder from its tarball, and the `more`, as users do. Nothing is fetched: packages of
 * others are links to those that the repository has.
 */
export async function installPacked(dir: string, more: readonly string[] = []): Promise<void> {
  const folder = await (packing ??= pack());
  const tarballs = readdirSync(folder).map((name) => path.join(folder, name));
  const manifest = { private: true, type: 'module', overrides: toLinks(namesOfOthers()) };
  writeFileSync(path.join(dir, 'package.json'), JSON.stringify(manifest));
  const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress'];
  await runIn(dir, 'npm', 'install', ...quiet, ...tarballs, ...Object.values(toLinks(TOOLS)), ...more);
}

/** Once for all tests of this process. */
async function pack(): Promise<string> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'svc-packages-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await runIn(ROOT, process.execPath, path.join('scripts', 'pack.mjs'), folder);
  return folder;
}

/** What our packages depend on that is not ours. */
function namesOfOthers(): string[] {
  const ours = path.join(ROOT, 'node_modules', '@svc');
  const manifests = readdirSync(ours).map(
    (name) =>
      JSON.parse(readFileSync(path.join(ours, name, 'package.json'), 'utf8')) as { dependencies?: object },
  );
  const names = new Set(manifests.flatMap(({ dependencies }) => Object.keys(dependencies ?? {})));
  return [...names].filter((name) => !name.startsWith('@svc/') && !TOOLS.includes(name));
}

function toLinks(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `file:${path.join(ROOT, 'node_modules', name)}`]));
}
