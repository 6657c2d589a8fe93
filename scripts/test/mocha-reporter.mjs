// One line for each test file, failures in full at the end, and the counts as JSON for scripts/test.mjs.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

const { EVENT_RUN_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } = Mocha.Runner.constants;
const LINGER_LIMIT_MS = 10_000;
export const LINGERED = 97;

export default class LinePerFile extends Mocha.reporters.Base {
  constructor(runner, options) {
    super(runner, options);
    const files = new Map();
    let current = null;
    let startedMs = Date.now();
    const finish = (file) => {
      print(file, files.get(file), Date.now() - startedMs);
      startedMs = Date.now();
    };
    const count = (test, outcome) => {
      const file = test.file ? path.relative('', test.file) : '(hooks)';
      if (!files.has(file)) files.set(file, { passed: 0, failed: 0, skipped: 0 });
      files.get(file)[outcome] += 1;
      if (current !== null && current !== file) finish(current);
      current = file;
    };
    runner.on(EVENT_TEST_PASS, (test) => count(test, 'passed'));
    runner.on(EVENT_TEST_FAIL, (test) => count(test, 'failed'));
    runner.on(EVENT_TEST_PENDING, (test) => count(test, 'skipped'));
    runner.once(EVENT_RUN_END, () => {
      if (current !== null) finish(current);
      if (this.failures.length > 0) Mocha.reporters.Base.list(this.failures);
      writeCounts(options.reporterOptions?.counts, files);
      endIfHeldOpen();
    });
  }
}

function print(file, { passed, failed, skipped }, tookMs) {
  const mark = failed > 0 ? '✗' : passed > 0 ? '✓' : '-';
  const counts = [`${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`];
  const took = tookMs < 1000 ? '' : ` (${(tookMs / 1000).toFixed(1)} s)`;
  console.log(`  ${mark} ${file}: ${counts.filter(Boolean).join(', ')}${took}`);
}

function writeCounts(target, files) {
  if (!target) return;
  const sum = { passed: 0, failed: 0, skipped: 0, skippedFiles: [] };
  for (const [file, counts] of files) {
    for (const outcome of ['passed', 'failed', 'skipped']) sum[outcome] += counts[outcome];
    if (counts.skipped > 0) sum.skippedFiles.push(file);
  }
  writeFileSync(target, JSON.stringify(sum));
}

/** A test that leaves a timer or socket behind keeps mocha from ending: that is a failure, and says by what. */
function endIfHeldOpen() {
  setTimeout(() => {
    console.log(
      `  ✗ the tests are over, but something keeps the process: ${process.getActiveResourcesInfo().join(', ')}`,
    );
    process.exit(LINGERED);
  }, LINGER_LIMIT_MS).unref();
}
