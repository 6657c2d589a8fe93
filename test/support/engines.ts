import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './program.js';

const PYTHON_PACKAGES = path.join(ROOT, '.cache', 'python-packages');

type Engine =
  | ('caddy' | 'chromium' | 'docker' | 'httpx-sse' | 'mcp' | 'netns' | 'nginx' | 'python')
  | ('rsync' | 'strace' | 'systemd' | 'tensorboard' | 'torch' | 'venv');

/** `npm test` finds or installs an engine and says where by the variable (empty: missing); by hand the usual places are tried. */
const ENGINES: Readonly<Record<Engine, { readonly variable: string; readonly find: () => string | null }>> = {
  caddy: { variable: 'SVC_TEST_CADDY', find: () => onPath('caddy') },
  chromium: { variable: 'SVC_TEST_CHROMIUM', find: () => onPath('chromium') ?? onPath('google-chrome') },
  docker: { variable: 'SVC_TEST_DOCKERD', find: () => (process.getuid?.() === 0 ? onPath('dockerd') : null) },
  'httpx-sse': {
    variable: 'SVC_TEST_HTTPX_SSE',
    find: () => [PYTHON_PACKAGES].find((folder) => existsSync(path.join(folder, 'httpx_sse'))) ?? null,
  },
  mcp: {
    variable: 'SVC_TEST_MCP_PYTHON',
    find: () => [`${ROOT}.cache/mcp-python/bin/python`].find((python) => existsSync(python)) ?? null,
  },
  netns: {
    variable: 'SVC_TEST_NETNS',
    find: () => [onPath('ip')].find((ip) => ip !== null && canIsolate(ip)) ?? null,
  },
  nginx: { variable: 'SVC_TEST_NGINX', find: () => onPath('nginx') },
  python: { variable: 'SVC_TEST_PYTHON', find: () => onPath('python3') },
  rsync: { variable: 'SVC_TEST_RSYNC', find: () => onPath('rsync') },
  strace: {
    variable: 'SVC_TEST_STRACE',
    find: () => [onPath('strace')].find((strace) => strace !== null && canTrace(strace)) ?? null,
  },
  systemd: { variable: 'SVC_TEST_SYSTEMD_ANALYZE', find: () => onPath('systemd-analyze') },
  tensorboard: {
    variable: 'SVC_TEST_TENSORBOARD_PYTHON',
    find: () => [`${ROOT}.cache/tensorboard-python/bin/python`].find((python) => existsSync(python)) ?? null,
  },
  torch: { variable: 'SVC_TEST_TORCH_PYTHON', find: () => findPython('torch, ensurepip, venv') },
  // Debian keeps what a virtual environment takes in a package of its own.
  venv: { variable: 'SVC_TEST_VENV_PYTHON', find: () => findPython('ensurepip, venv') },
};

/** For a `before` hook: the engine's program; without one the suite is skipped, and `npm test` says so. */
export function requireEngine(context: Mocha.Context, engine: Engine): string {
  const { variable, find } = ENGINES[engine];
  const program = process.env[variable] ?? find();
  if (program === null || program === '') context.skip();
  return program;
}

/** As `requireEngine`, for a program that is no suite: throws when it is missing. */
export function requireProgram(engine: Engine): string {
  const { variable, find } = ENGINES[engine];
  const program = process.env[variable] ?? find();
  if (!program)
    throw new Error(`${engine} is missing: set ${variable}, or run npm test once, which installs it`);
  return program;
}

function onPath(program: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.join(folder, program)).find((file) => existsSync(file)) ?? null;
}

/** One that can import these modules. */
function findPython(modules: string): string | null {
  const found = [onPath('python3'), '/usr/bin/python3'].find(
    (python) => python !== null && succeeds(python, ['-c', `import ${modules}`]),
  );
  return found ?? null;
}

/** Whether this process may make a network of its own, and give a process to it. */
function canIsolate(ip: string): boolean {
  const name = `svc-try-${process.pid}`;
  return (
    succeeds(ip, ['netns', 'add', name]) &&
    succeeds(ip, ['netns', 'exec', name, 'true']) &&
    succeeds(ip, ['netns', 'delete', name])
  );
}

function canTrace(strace: string): boolean {
  return succeeds(strace, ['-f', '-qq', '-e', 'trace=fsync', 'true']);
}

function succeeds(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
