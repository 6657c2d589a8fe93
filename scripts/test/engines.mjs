// The programs that some suites need for real. Missing ones are installed where that is possible: Debian, as root.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../fingerprint.mjs';
import { run } from '../processes.mjs';

/** Packages of Python that Debian does not have. */
const PYTHON_PACKAGES = path.join(ROOT, '.cache', 'python-packages');
const POSTGRES_HOME = '/usr/lib/postgresql';
let isListFresh = false;

/** Each engine: `find` says where it is (null: missing), `install` brings one that is no package of Debian; suites that start it by itself read that from the variable `env`. */
export const ENGINES = [
  { name: 'python3', env: 'SVC_TEST_PYTHON', packages: ['python3'], find: async () => onPath('python3') },
  {
    name: 'chromium',
    env: 'SVC_TEST_CHROMIUM',
    packages: ['chromium'],
    find: async () => onPath('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'),
  },
  { name: 'postgresql', packages: ['postgresql'], find: findPostgres },
  { name: 'strace', env: 'SVC_TEST_STRACE', packages: ['strace'], find: findStrace },
  {
    name: 'network namespaces',
    env: 'SVC_TEST_NETNS',
    packages: ['iproute2'],
    find: findNetworkNamespaces,
  },
  { name: 'caddy', env: 'SVC_TEST_CADDY', packages: ['caddy'], find: async () => onPath('caddy') },
  { name: 'nginx', env: 'SVC_TEST_NGINX', packages: ['nginx-light'], find: async () => onPath('nginx') },
  {
    name: 'systemd-analyze',
    env: 'SVC_TEST_SYSTEMD_ANALYZE',
    packages: ['systemd'],
    find: async () => onPath('systemd-analyze'),
  },
  {
    name: 'docker',
    env: 'SVC_TEST_DOCKERD',
    packages: ['docker.io', 'busybox-static'],
    find: findDockerd,
  },
  {
    name: 'docker-registry',
    env: 'SVC_TEST_DOCKER_REGISTRY',
    packages: ['docker-registry'],
    find: async () => onPath('docker-registry'),
  },
  { name: 'rsync', env: 'SVC_TEST_RSYNC', packages: ['rsync'], find: async () => onPath('rsync') },
  {
    name: 'pytorch',
    env: 'SVC_TEST_TORCH_PYTHON',
    packages: ['python3-torch', 'python3-venv'],
    find: () => findPython('torch, ensurepip, venv'),
  },
  {
    name: 'python3 with venv',
    env: 'SVC_TEST_VENV_PYTHON',
    packages: ['python3-venv'],
    find: () => findPython('ensurepip, venv'),
  },
  {
    name: 'httpx-sse',
    env: 'SVC_TEST_HTTPX_SSE',
    find: async () => (existsSync(path.join(PYTHON_PACKAGES, 'httpx_sse')) ? PYTHON_PACKAGES : null),
    install: installHttpxSse,
  },
  // Behind the one with venv, which makes them.
  {
    name: 'MCP client for Python',
    env: 'SVC_TEST_MCP_PYTHON',
    ...pythonWith('mcp-python', ['mcp==2.3.0'], 'mcp'),
  },
  {
    name: 'TensorBoard',
    env: 'SVC_TEST_TENSORBOARD_PYTHON',
    ...pythonWith(
      'tensorboard-python',
      ['tensorboard==2.21.0', 'tensorboardX==2.6.5', 'setuptools<81'],
      'tensorboard, tensorboardX',
    ),
  },
];

/**
 * Finds or installs the named engines. Answers the environment that tells the suites where they are (a missing one as an
 * empty string), and the names of those missing.
 */
export async function prepareEngines(names) {
  const env = {};
  const missing = [];
  for (const engine of ENGINES.filter(({ name }) => names.includes(name))) {
    const found =
      process.env[engine.env] || (await engine.find()) || (await (engine.install ?? install)(engine));
    if (engine.env) env[engine.env] = found ?? '';
    if (!found) missing.push(engine.name);
  }
  return { env, missing };
}

/** A virtual environment in .cache with packages of PyPI. */
function pythonWith(folder, packages, modules) {
  const venv = path.join(ROOT, '.cache', folder);
  const python = path.join(venv, 'bin', 'python');
  const find = async () =>
    isExecutable(python) && (await run(python, ['-c', `import ${modules}`])).code === 0 ? python : null;
  async function make({ name }) {
    const base = await findPython('ensurepip, venv');
    if (!base) return null;
    console.log(`engines: installing ${name} (pip install ${packages.join(' ')})`);
    await run(base, ['-m', 'venv', '--clear', venv]);
    await run(path.join(venv, 'bin', 'pip'), ['install', '-q', '--disable-pip-version-check', ...packages]);
    return find();
  }
  return { find, install: make };
}

async function install({ name, packages, find }) {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return null;
  console.log(`engines: installing ${name} (apt-get install ${packages.join(' ')})`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  if (!isListFresh) isListFresh = (await run('apt-get', ['update', '-q'], { env })).code === 0;
  const { code, output } = await run(
    'apt-get',
    ['install', '-y', '-q', '--no-install-recommends', ...packages],
    { env },
  );
  if (code !== 0) console.log(`engines: ${name} cannot be installed: ${output.trimEnd().split('\n').at(-1)}`);
  return find();
}

/** Answers the folder for PYTHONPATH. */
async function installHttpxSse({ name, find }) {
  console.log(`engines: installing ${name} (pip install httpx httpx-sse)`);
  const target = ['--target', PYTHON_PACKAGES, '--disable-pip-version-check'];
  const { code, output } = await run('python3', [
    '-m',
    'pip',
    'install',
    '-q',
    ...target,
    'httpx',
    'httpx-sse',
  ]);
  if (code !== 0) console.log(`engines: ${name} cannot be installed: ${output.trimEnd().split('\n').at(-1)}`);
  return code === 0 ? find() : null;
}

async function findPostgres() {
  const initdb = onPath('initdb');
  if (initdb) return path.dirname(initdb);
  if (!existsSync(POSTGRES_HOME)) return null;
  const folders = readdirSync(POSTGRES_HOME).map((version) => path.join(POSTGRES_HOME, version, 'bin'));
  return (
    folders
      .filter((folder) => isExecutable(path.join(folder, 'initdb')))
      .sort()
      .at(-1) ?? null
  );
}

/** One that may trace: a sandbox may forbid it. */
async function findStrace() {
  const strace = onPath('strace');
  return strace && (await run(strace, ['-f', '-qq', '-e', 'trace=fsync', 'true'])).code === 0 ? strace : null;
}

/** The program that makes them, where this process may: as root, and not in every container. */
async function findNetworkNamespaces() {
  const ip = onPath('ip');
  const name = `svc-try-${process.pid}`;
  if (!ip || (await run(ip, ['netns', 'add', name])).code !== 0) return null;
  const canEnter = (await run(ip, ['netns', 'exec', name, 'true'])).code === 0;
  await run(ip, ['netns', 'delete', name]);
  return canEnter ? ip : null;
}

/** The suites start their own, with an image of busybox: as root, and where this process may mount. */
async function findDockerd() {
  const dockerd = onPath('dockerd');
  if (!dockerd || !existsSync('/bin/busybox') || process.getuid?.() !== 0) return null;
  return (await run('unshare', ['--mount', 'true'])).code === 0 ? dockerd : null;
}

/** Any python3 that can import these modules; a package of Debian serves /usr/bin/python3. */
async function findPython(modules) {
  for (const python of [onPath('python3'), '/usr/bin/python3']) {
    if (python && (await run(python, ['-c', `import ${modules}`])).code === 0) return python;
  }
  return null;
}

function onPath(...programs) {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return (
    programs.flatMap((program) => folders.map((folder) => path.join(folder, program))).find(isExecutable) ??
    null
  );
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
