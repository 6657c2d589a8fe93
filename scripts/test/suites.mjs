// Runs one kind of suite and answers its counts: {name, passed, failed, skipped, notes}.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { ROOT, filesBelow } from '../fingerprint.mjs';
import { secondsSince } from '../processes.mjs';
import { describeNode, freePort } from './node-stack.mjs';
import { supervise } from './supervise.mjs';

const UNIT_FOLDERS = [
  'contract',
  'validation',
  'hooks',
  'http',
  'client',
  'signals',
  'sdk/typescript',
  'kernel',
  'agent',
  'cli',
  'ui',
];
/** Tests that start processes by the dozen, write gigabytes, wait for limits or train models: too long for the quick part. */
const LONG_FOLDERS = [
  'plugins/runner-process/test',
  'plugins/runner-docker/test/engine',
  'plugins/backup/test',
  'plugins/retention/test',
  'plugins/mcp/test',
];
const LONG_FILES = [
  'plugins/detectors/test/healthy.test.ts',
  'plugins/failures/test/real-tools.test.ts',
  'plugins/snapshots/test/unpack.test.ts',
  'plugins/snapshots/test/uploads.test.ts',
  'plugins/gpu-nvidia/test/whole-agent.test.ts',
  'plugins/events/test/large-history.test.ts',
  'plugins/events/test/large-lists.test.ts',
  'plugins/checkpoint-watcher/test/attempt-checkpoints.test.ts',
  'agent/test/host/state-dir-lock.test.ts',
];
/** The console's elements in a browser. */
const IN_BROWSER = 'ui/test/browser';
const MOST_PROCESSES = 4;
/** `packages` packs in one process, because two at once would delete the types that the other reads. */
const CROSSING = ['packages', 'conformance', 'e2e'];
/** They measure how others are served under load, or end processes at chosen moments: nothing else runs meanwhile. */
const ALONE = ['abuse', 'faults'];
/** They mostly wait for the programs that they start. */
const CROSSING_AT_ONCE = 2;

const MINUTE_MS = 60_000;
/** What does not end by then is killed. All together stay below the 90 minutes of the continuous integration. */
const LIMITS_MS = {
  check: 10 * MINUTE_MS,
  unit: 15 * MINUTE_MS,
  crossing: 30 * MINUTE_MS,
  all: 80 * MINUTE_MS,
};

const NODE_OPTIONS = createRequire(import.meta.url)('../../.mocharc.cjs')['node-option'];

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
  const { code, output, faults } = await superviseNode(name, args, { quiet: true, limitMs: LIMITS_MS.check });
  const isFine = code === 0 && faults.length === 0;
  console.log(
    `${isFine ? '✓' : '✗'} ${name} (${secondsSince(startedMs)})${isFine ? '' : `\n${output.trimEnd()}`}`,
  );
  return { name, passed: isFine ? 1 : 0, failed: isFine ? 0 : 1, skipped: 0, notes: faults };
}

/** The suites of the packages, a process more than there are cores (they also wait), beside those in Python. */
export async function runUnitSuites(env) {
  const plugins = readdirSync(path.join(ROOT, 'plugins')).map((name) => `plugins/${name}`);
  const files = testFiles([...UNIT_FOLDERS, ...plugins].map((folder) => `${folder}/test`)).filter(
    (file) => ![...LONG_FOLDERS, ...LONG_FILES, IN_BROWSER].some((place) => file.startsWith(place)),
  );
  const count = Math.min(MOST_PROCESSES, os.availableParallelism() + 1);
  const shares = Array.from({ length: count }, (_, at) =>
    files.filter((_file, index) => index % count === at),
  );
  const results = await Promise.all([
    ...shares.map((share, at) => runMocha(`unit ${at + 1} of ${count}`, share, env, LIMITS_MS.unit)),
    runPythonSuites(env),
  ]);
  return results.flat();
}

/** Those that start the real server, agent, database and browser: one process for each kind, and two for the integration. */
export async function runCrossingSuites(env) {
  const integration = testFiles(['test/integration']);
  const shares = [0, 1].map((share) => integration.filter((_file, index) => index % 2 === share));
  const kinds = [
    ...shares.map((files, at) => [`integration ${at + 1} of 2`, files]),
    ['console in a browser', testFiles([IN_BROWSER])],
    ...LONG_FOLDERS.map((place) => [place, testFiles([place])]),
    ['long suites of plugins and the agent', testFiles(LONG_FILES)],
    ...CROSSING.map((kind) => [kind, testFiles([`test/${kind}`])]),
  ];
  const run = ([name, files]) => runMocha(name, files, env, LIMITS_MS.crossing);
  const results = await runLanes(CROSSING_AT_ONCE, kinds, run);
  for (const kind of ALONE) results.push(await run([kind, testFiles([`test/${kind}`])]));
  return results;
}

/** Those that need training frameworks, one after the other. `python`: one that has them. */
export async function runFrameworkSuites(python) {
  const env = { ...process.env, SVC_TEST_FRAMEWORKS_PYTHON: python };
  const results = [await runMocha('frameworks', testFiles(['test/frameworks']), env, LIMITS_MS.crossing)];
  // Of a notebook, too.
  return [...results, await runUnittest(python, 'sdk/python/tests', env, 'test_failure_event.py')];
}

/** Each lane takes the next task when it is done with one. */
async function runLanes(count, tasks, run) {
  const waiting = [...tasks];
  const results = [];
  const lane = async () => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift())
      results.push(await run(task));
  };
  await Promise.all(Array.from({ length: count }, lane));
  return results;
}

function testFiles(places) {
  const isTest = (file) => file.endsWith('.test.ts');
  return places.flatMap((place) => (isTest(place) ? [place] : filesBelow(place, isTest)));
}

export async function runMocha(name, files, env, limitMs) {
  if (files.length === 0) return nothing(name);
  // Not its launcher, which would start a second process: the one that is asked what it does is the one with the tests.
  const mocha = path.join(ROOT, 'node_modules', 'mocha', 'lib', 'cli', 'cli.js');
  const reporter = path.join(ROOT, 'scripts', 'test', 'mocha-reporter.mjs');
  return runCounted(name, (stateFile, lastTest) =>
    superviseNode(
      name,
      [
        ...NODE_OPTIONS.map((option) => `--${option}`),
        mocha,
        '--reporter',
        reporter,
        '--reporter-option',
        `state=${stateFile}`,
        ...files,
      ],
      { env, limitMs, lastTest },
    ),
  );
}

async function superviseNode(name, args, options) {
  const port = await freePort();
  return supervise(name, process.execPath, [`--inspect-port=${port}`, ...args], {
    ...options,
    limitMs: withinAll(options.limitMs),
    describe: (pid) => describeNode(pid, port),
  });
}

/** The last ones get what is left. */
function withinAll(limitMs) {
  return Math.max(1, Math.min(limitMs, LIMITS_MS.all - process.uptime() * 1000));
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

function runUnittest(python, folder, env, pattern = 'test*.py') {
  const script = path.join(ROOT, 'scripts', 'test', 'run_unittest.py');
  return runCounted(folder, (stateFile, lastTest) =>
    supervise(folder, python, [script, stateFile, folder, pattern], {
      env: { ...env, PYTHONPATH: path.join(ROOT, 'sdk', 'python'), PYTHONDONTWRITEBYTECODE: '1' },
      limitMs: withinAll(LIMITS_MS.unit),
      lastTest,
      describe: showPythonStacks,
    }),
  );
}

/** It writes them itself; see run_unittest.py. */
async function showPythonStacks(pid) {
  process.kill(pid, 'SIGUSR1');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return [];
}

/** A runner that fails without a failed test (it crashed, or did not end) counts as one failure. */
async function runCounted(name, work) {
  const startedMs = Date.now();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'svc-test-'));
  const stateFile = path.join(folder, 'state.json');
  try {
    const { code, faults } = await work(stateFile, () => readState(stateFile).running);
    const { passed, failed, skipped, skippedFiles, failedTests } = readState(stateFile);
    const notes = [
      ...failedTests.map((test) => `failed: ${test}`),
      ...skippedFiles.map((file) => `skipped in ${file}`),
      ...faults,
    ];
    const isUntold = code !== 0 && failed === 0 && faults.length === 0;
    if (isUntold) notes.push(`the run itself ended with status ${code}`);
    console.log(`${name}: ${secondsSince(startedMs)}`);
    return { name, passed, failed: failed + (isUntold || faults.length > 0 ? 1 : 0), skipped, notes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a test process has written of itself up to now; nothing when it was killed while it wrote. */
function readState(stateFile) {
  const none = { running: '', passed: 0, failed: 0, skipped: 0, skippedFiles: [], failedTests: [] };
  try {
    return { ...none, ...JSON.parse(readFileSync(stateFile, 'utf8')) };
  } catch {
    return none;
  }
}

function nothing(name) {
  return { name, passed: 0, failed: 0, skipped: 0, notes: [] };
}
