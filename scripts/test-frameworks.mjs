// `npm run test:frameworks`: the suites with real training frameworks. The first time they are installed into .cache, about 6 GB.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { ROOT } from './fingerprint.mjs';

const PACKAGES = 'torch transformers accelerate lightning keras ipykernel nbclient omegaconf pydantic'.split(
  ' ',
);
const VENV = path.join(ROOT, '.cache', 'frameworks-python');
const PYTHON = path.join(VENV, 'bin', 'python');
const SUITES = path.join(ROOT, 'test', 'frameworks');

if (!existsSync(path.join(VENV, 'installed'))) {
  console.log(`installing ${PACKAGES.join(', ')} into ${VENV}`);
  start('python3', ['-m', 'venv', '--clear', VENV]);
  start(PYTHON, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...PACKAGES]);
  mkdirSync(path.join(VENV, 'installed'));
}
start(process.execPath, [path.join(ROOT, 'scripts', 'build.mjs')]);
const suites = readdirSync(SUITES).filter((name) => name.endsWith('.test.ts'));
const env = { ...process.env, SVC_TEST_FRAMEWORKS_PYTHON: PYTHON };
start(
  path.join(ROOT, 'node_modules', '.bin', 'mocha'),
  ['--reporter', 'spec', ...process.argv.slice(2), ...suites.map((name) => path.join(SUITES, name))],
  env,
);
start(PYTHON, ['-m', 'unittest', 'discover', '-s', 'sdk/python/tests', '-p', 'test_failure_event.py'], env);

function start(program, args, env = process.env) {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, env, stdio: 'inherit' });
  if (error) console.error(`${program}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
