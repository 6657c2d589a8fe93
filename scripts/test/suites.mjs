// Runs one kind of suite and answers its counts: {name, passed, failed, skipped, notes}.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT, filesBelow } from '../fingerprint.mjs';
import { run, runNode, secondsSince } from '../processes.mjs';

const UNIT_FOLDERS = ['contract', 'kernel', 'agent', 'cli', 'ui'];
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

export function runUnitSuites(env) {
  const plugins = readdirSync(path.join(ROOT, 'plugins')).map((name) => `plugins/${name}`);
  return runMocha('unit', testFiles([...UNIT_FOLDERS, ...plugins].map((folder) => `${folder}/test`)), env);
}

/** Those that start the real server, agent, database and browser: one process for each kind. */
export async function runCrossingSuites(env) {
  const results = [];
  for (const kind of CROSSING) results.push(await runMocha(kind, testFiles([`test/${kind}`]), env));
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
export async function runPythonSuites(python, env) {
  const suites = [{ name: 'python sdk', start: 'sdk/python/tests', top: 'sdk/python' }, ...exampleSuites()];
  const results = [];
  for (const { name, start, top } of suites.filter(({ start }) => existsSync(path.join(ROOT, start)))) {
    if (!python) results.push({ ...nothing(name), skipped: 1, notes: ['no python3'] });
    else results.push(await runUnittest(python, name, start, top, env));
  }
  return results;
}

function exampleSuites() {
  return readdirSync(path.join(ROOT, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `examples/${name}`)
    .filter((folder) => filesBelow(folder, (file) => /(^|\/)test_\w+\.py$/.test(file)).length > 0)
    .map((folder) => ({ name: folder, start: folder, top: folder }));
}

function runUnittest(python, name, start, top, env) {
  const script = path.join(ROOT, 'scripts', 'test', 'run_unittest.py');
  return runCounted(name, (countsFile) =>
    run(python, [script, countsFile, start, top], {
      env: { ...env, PYTHONPATH: path.join(ROOT, 'sdk', 'python'), PYTHONDONTWRITEBYTECODE: '1' },
      show: true,
    }),
  );
}

/** A runner that fails without a failed test (it crashed, or was held open) counts as one failure. */
async function runCounted(name, work) {
  console.log(`\n${name}`);
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
    console.log(`  ${secondsSince(startedMs)}`);
    return { name, passed: counts.passed, failed: counts.failed, skipped: counts.skipped, notes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function nothing(name) {
  return { name, passed: 0, failed: 0, skipped: 0, notes: [] };
}
