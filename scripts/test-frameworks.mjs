// `npm run test:frameworks`: the suites with real training frameworks, and with files that real trackers write. The first time they are
// installed into .cache, about 6 GB. The last line is the sum.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { ROOT } from './fingerprint.mjs';
import { Explained, main } from './processes.mjs';
import { runFrameworkSuites } from './test/suites.mjs';
import { summarize } from './test/summary.mjs';

const PACKAGES =
  'torch transformers accelerate lightning keras ipykernel nbclient omegaconf pydantic ' +
  'mlflow-skinny sqlalchemy alembic wandb tensorboardX tensorboard';
const VENV = path.join(ROOT, '.cache', 'frameworks-python');
const PYTHON = path.join(VENV, 'bin', 'python');
const INSTALLED = path.join(VENV, 'installed.txt');

await main(async () => {
  install();
  run(process.execPath, [path.join(ROOT, 'scripts', 'build.mjs')]);
  summarize(await runFrameworkSuites(PYTHON));
});

function install() {
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === PACKAGES) return;
  console.log(`installing ${PACKAGES} into ${VENV}`);
  run('python3', ['-m', 'venv', VENV]);
  run(PYTHON, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...PACKAGES.split(' ')]);
  writeFileSync(INSTALLED, PACKAGES);
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Explained(`${program}: ${error?.message ?? `it ended with status ${status}`}`);
}
