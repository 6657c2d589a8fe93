// Runs one kind of suite and answers its counts: {name, passed, failed, skipped, notes}.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT, filesBelow } from '../fingerprint.mjs';
import { run, runNode, secondsSince } from '../processes.mjs';

const UNIT_FOLDERS = ['contract', 'kernel', 'agent', 'cli', 'ui'];
/** Start processes by the dozen and kill them at each step: real work, and too long for the quick part. */
const WITH_PROCESSES = ['plugins/runner-process', 'plugins/backup', 'plugins/retention'];
const MOST_PROCESSES = 4;
const CROSSING = ['conformance', 'integration', 'faults', 'e2e'];

/** Lint, format and types: each one counts as one. They run side by side, quietly. */
export function runChecks() {
  const tool = (...segments) => path.join(ROOT, 'node_modules', ...segments);
  return Promise.all([
    runCheck('lint', [tool('eslint', 'bin', 'eslint.js'), '.', '--max-warnings', '0']),
    runCheck('format', [tool('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level', 'warn', '.']),
    runCheck('types', [tool('typescript', 'bin', 'tsc'), '--noEmit', '-p', 'tsconfig.json']),
    runCheck('types of the console', [
      tool('typescript', 'bin', 'tsc'),
      '--noEmit',
      '-p',
      'ui/tsconfig.json',
    ]),
  ]);
}

async function runCheck(name, args) {
  const startedMs = Date.now();
  const { code, output } = await runNode(args);
  const isFine = code === 0;
  console.log(
    `${isFine ? '✓' : '✗'} ${name} (${secondsSince(startedMs)})${isFine ? '' : `\n${output.trimEnd()}`}`,
  );
  return { name, passed: isFine ? 1 : 0, failed: isFine ? 0 : 1, skipped: 0, notes: [] };
}

/** The suites of the packages, a process more than there are cores (they also wait), beside those in Python. */
export async function runUnitSuites(env) {
  const plugins = readdirSync(path.join(ROOT, 'plugins'))
    .map((name) => `plugins/${name}`)
    .filter((folder) => !WITH_PROCESSES.includes(folder));
  const files = testFiles([...UNIT_FOLDERS, ...plugins].map((folder) => `${folder}/test`));
  const count = Math.min(MOST_PROCESSES, os.availableParallelism() + 1);
  const shares = Array.from({ length: count }, (_, at) =>
    files.filter((_file, index) => index % count === at),
  );
  const results = await Promise.all([
    ...shares.map((share, at) => runMocha(`unit ${at + 1} of ${count}`, share, env)),
    runPythonSuites(env),
  ]);
  return results.flat();
}

/** Those that start the real server, agent, database and browser: one process for each kind. */
export async function runCrossingSuites(env) {
  const kinds = [
    ...WITH_PROCESSES.map((folder) => [folder, `${folder}/test`]),
    ...CROSSING.map((kind) => [kind, `test/${kind}`]),
  ];
  const results = [];
  for (const [name, folder] of kinds) results.push(await runMocha(name, testFiles([folder]), env));
  return results;
}

function testFiles(folders) {
  return folders.flatMap((folder) => filesBelow(folder, (file) => file.endsWith('.test.ts')));
}

async function runMocha(name, files, env) {
  if (files.length === 0) return nothing(name);
  const mocha = path.join(ROOT, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const reporter = path.join(ROOT, 'scripts', 'test', 'mocha-reporter.mjs');
  return runCounted(name, (countsFile) =>
    runNode([mocha, '--reporter', reporter, '--reporter-option', `counts=${countsFile}`, ...files], {
      env,
      show: true,
    }),
  );
}

/** unittest suites of the SDK and of the examples. */
async function runPythonSuites(env) {
  const python = env.SVC_TEST_PYTHON;
  const results = [];
  for (const folder of ['sdk/python/tests', ...exampleSuites()].filter(hasUnittests)) {
    if (!python) results.push({ ...nothing(folder), skipped: 1, notes: ['there is no python3'] });
    else results.push(await runUnittest(python, folder, env));
  }
  return results;
}

function exampleSuites() {
  const entries = readdirSync(path.join(ROOT, 'examples'), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `examples/${name}`);
}

function hasUnittests(folder) {
  return filesBelow(folder, (file) => /(^|\/)test_\w+\.py$/.test(file)).length > 0;
}

function runUnittest(python, folder, env) {
  const script = path.join(ROOT, 'scripts', 'test', 'run_unittest.py');
  return runCounted(folder, (countsFile) =>
    run(python, [script, countsFile, folder], {
      env: { ...env, PYTHONPATH: path.join(ROOT, 'sdk', 'python'), PYTHONDONTWRITEBYTECODE: '1' },
      show: true,
    }),
  );
}

/** A runner that fails without a failed test (it crashed, or was held open) counts as one failure. */
async function runCounted(name, work) {
  const startedMs = Date.now();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'svc-test-'));
  const countsFile = path.join(folder, 'counts.json');
  try {
    const { code } = await work(countsFile);
    const counts = existsSync(countsFile)
      ? JSON.parse(readFileSync(countsFile, 'utf8'))
      : { passed: 0, failed: 0, skipped: 0 };
    const notes = (counts.skippedFiles ?? []).map((file) => `skipped in ${file}`);
    if (code !== 0 && counts.failed === 0) {
      counts.failed = 1;
      notes.push(`the run itself ended with status ${code}`);
    }
    console.log(`${name}: ${secondsSince(startedMs)}`);
    return { name, passed: counts.passed, failed: counts.failed, skipped: counts.skipped, notes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function nothing(name) {
  return { name, passed: 0, failed: 0, skipped: 0, notes: [] };
}
