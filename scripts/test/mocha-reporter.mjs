// One line for each test file, failures in full at the end, and for scripts/test.mjs as JSON: the counts, the test that runs and those that failed.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

const {
  EVENT_HOOK_BEGIN,
  EVENT_HOOK_END,
  EVENT_RUN_BEGIN,
  EVENT_RUN_END,
  EVENT_TEST_BEGIN,
  EVENT_TEST_FAIL,
  EVENT_TEST_PASS,
  EVENT_TEST_PENDING,
} = Mocha.Runner.constants;

export default class LinePerFile extends Mocha.reporters.Base {
  constructor(runner, options) {
    super(runner, options);
    const files = new Map();
    const failedTests = [];
    let current = null;
    let startedMs = Date.now();
    const finish = (file) => {
      print(file, files.get(file), Date.now() - startedMs);
      startedMs = Date.now();
    };
    const count = (test, outcome) => {
      const file = fileOf(test);
      if (!files.has(file)) files.set(file, { passed: 0, failed: 0, skipped: 0 });
      files.get(file)[outcome] += 1;
      if (current !== null && current !== file) finish(current);
      current = file;
    };
    const write = (running) => writeState(options.reporterOptions?.state, running, files, failedTests);
    const begin = (test) => write(`${fileOf(test)}: ${test.fullTitle()}`);
    // Not the time in which the files were loaded.
    runner.once(EVENT_RUN_BEGIN, () => (startedMs = Date.now()));
    runner.on(EVENT_TEST_BEGIN, begin);
    runner.on(EVENT_HOOK_BEGIN, begin);
    // The test that follows the hook has begun before it.
    runner.on(EVENT_HOOK_END, ({ ctx }) => ctx?.currentTest && begin(ctx.currentTest));
    runner.on(EVENT_TEST_PASS, (test) => count(test, 'passed'));
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      // In full at the end, which a process that is killed does not reach.
      console.log(`  ✗ ${test.fullTitle()}: ${error.message}`);
      failedTests.push(`${fileOf(test)}: ${test.fullTitle()}`);
      count(test, 'failed');
    });
    runner.on(EVENT_TEST_PENDING, (test) => count(test, 'skipped'));
    runner.once(EVENT_RUN_END, () => {
      if (current !== null) finish(current);
      if (this.failures.length > 0) Mocha.reporters.Base.list(this.failures);
      write('its tests are over');
    });
  }
}

function fileOf(test) {
  return test.file ? path.relative('', test.file) : '(hooks)';
}

function print(file, { passed, failed, skipped }, tookMs) {
  const mark = failed > 0 ? '✗' : passed > 0 ? '✓' : '-';
  const counts = [`${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`];
  const took = tookMs < 1000 ? '' : ` (${(tookMs / 1000).toFixed(1)} s)`;
  console.log(`  ${mark} ${file}: ${counts.filter(Boolean).join(', ')}${took}`);
}

function writeState(target, running, files, failedTests) {
  if (!target) return;
  const state = { running, passed: 0, failed: 0, skipped: 0, skippedFiles: [], failedTests };
  for (const [file, counts] of files) {
    for (const outcome of ['passed', 'failed', 'skipped']) state[outcome] += counts[outcome];
    if (counts.skipped > 0) state.skippedFiles.push(file);
  }
  writeFileSync(target, JSON.stringify(state));
}
