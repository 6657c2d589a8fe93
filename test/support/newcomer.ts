import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { ROOT, startProgram, type Ended, type Program } from './program.js';

/** An account that owns nothing but its home. Only root can make another user's. */
const UNPRIVILEGED_ID = 64_242;
const isRoot = process.getuid?.() === 0;

export interface NewcomerOptions {
  readonly home: string;
  /** What `python3` is for this account. */
  readonly python: string;
  /** The network namespace in which it works; null: that of this process. */
  readonly namespace?: string | null;
  /** What stands in the docs, and what is typed for it. */
  readonly replacements: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Somebody with a new account, who types what a page says. */
export class Newcomer {
  readonly #options: NewcomerOptions;
  readonly programs: Program[] = [];

  constructor(options: NewcomerOptions) {
    this.#options = options;
    mkdirSync(path.join(options.home, 'bin'), { recursive: true });
    const python = path.join(options.home, 'bin', 'python3');
    writeFileSync(python, `#!/bin/sh\nexec "${options.python}" "$@"\n`);
    chmodSync(python, 0o755);
    give(options.home);
  }

  at(...names: string[]): string {
    return path.join(this.#options.home, ...names);
  }

  /** The text as this person types it. */
  toTyped(text: string): string {
    const entries = Object.entries(this.#options.replacements);
    return entries.reduce((typed, [shown, own]) => typed.replaceAll(shown, own), text);
  }

  /** Types the lines into a new shell in that folder below the home. */
  start(lines: string, folder = ''): Program {
    const { home, namespace = null, env } = this.#options;
    // As the ~/.profile of a new account has it: a folder that appears later is not on the PATH of a shell that runs.
    const own = [`${home}/bin`, `${home}/.local/bin`].filter((folder) => existsSync(folder));
    const PATH = [...own, path.dirname(process.execPath), '/usr/bin:/bin'].join(':');
    const words = ['bash', '-euo', 'pipefail', '-c', this.toTyped(lines)];
    // As in a terminal of its own: Ctrl-C reaches all that the line has started.
    const [program = '', ...args] = ['setsid', ...enter(namespace), ...becomeUnprivileged(), ...words];
    const started = startProgram(
      program,
      args,
      { HOME: home, PATH, LANG: 'C.UTF-8', ...env },
      this.at(folder),
    );
    this.programs.unshift(started);
    return started;
  }

  /** As `start`, to its end. Throws with its output where it fails. */
  async type(lines: string, folder = ''): Promise<Ended> {
    const ended = await this.start(lines, folder).ended;
    if (ended.status !== 0) throw new Error(`${lines}\n${ended.stdout}\n${ended.stderr}`);
    return ended;
  }

  /** Ctrl-C. */
  async interrupt(program: Program): Promise<void> {
    process.kill(-program.pid, 'SIGINT');
    await program.ended;
  }

  write(file: string, text: string): void {
    const target = this.at(file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
    give(this.at());
  }

  /** As scp does. */
  copy(file: string, to: Newcomer): void {
    copyFileSync(this.at(file), to.at(path.basename(file)));
    give(to.at());
  }

  /** The dependencies of a clone, which would come from the registry. */
  provideDependencies(clone: string): void {
    execFileSync('cp', ['-a', path.join(ROOT, 'node_modules'), this.at(clone)]);
    cpSync(path.join(ROOT, '.cache', 'stamps', 'install'), this.at(clone, '.cache', 'stamps', 'install'));
    give(this.at(clone));
  }
}

/** A bare repository with the tracked files of this one as they are now. */
export function createRepository(dir: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  const repository = path.join(dir, 'svc.git');
  git('init', '--quiet', '--bare', '--initial-branch=main', repository);
  const now = git('stash', 'create') || git('rev-parse', 'HEAD');
  git('push', '--quiet', repository, `${now}:refs/heads/main`);
  give(repository);
  return repository;
}

/** A host of its own network, with an address, as seen from here; `address`: ours, as seen from there. Root alone may. */
export interface Namespace {
  readonly name: string;
  readonly address: string;
  remove(): void;
}

/** A port on which nothing listens. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

export function createNamespace(ip: string): Namespace {
  const name = `svc-test-${process.pid}`;
  const [here, there] = [`svc${process.pid}a`, `svc${process.pid}b`];
  const subnet = `10.213.${process.pid % 250}`;
  const run = (...args: string[]) => execFileSync(ip, args, { stdio: 'pipe' });
  run('netns', 'add', name);
  run('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name);
  run('address', 'add', `${subnet}.1/30`, 'dev', here);
  run('link', 'set', here, 'up');
  run('-n', name, 'address', 'add', `${subnet}.2/30`, 'dev', there);
  for (const device of [there, 'lo']) run('-n', name, 'link', 'set', device, 'up');
  return { name, address: `${subnet}.1`, remove: () => void run('netns', 'delete', name) };
}

function enter(namespace: string | null): string[] {
  return namespace === null ? [] : ['ip', 'netns', 'exec', namespace];
}

function becomeUnprivileged(): string[] {
  const id = String(UNPRIVILEGED_ID);
  return isRoot ? ['setpriv', '--reuid', id, '--regid', id, '--clear-groups'] : [];
}

function give(folder: string): void {
  if (isRoot) execFileSync('chown', ['-R', `${UNPRIVILEGED_ID}:${UNPRIVILEGED_ID}`, folder]);
}
