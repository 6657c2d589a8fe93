import type { MetricPoint } from '@svc/contract';
import { eachDatabase, type TestDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireEngine } from '../../../test/support/engines.js';
import { Lab } from './support/lab.js';

const EXAMPLE = join(import.meta.dirname, '../../../examples/train-digits/train.py');
const STEPS_AT_ONCE = 20;

eachDatabase((database: TestDatabase) => {
  describe('diagnosis: the bundled example', function () {
    this.timeout(120_000);
    let lab: Lab;
    let points: MetricPoint[];
    let diverging: MetricPoint[];
    before(async function () {
      const python = requireEngine(this, 'python');
      points = record(python, []);
      diverging = record(python, ['--lr', '3']);
      lab = await Lab.open(database);
    });
    after(() => lab?.close());

    it('goes well: it gives no anomaly and no health warning at any time', async () => {
      const run = await lab.rig.createRun({ max_steps: 400 });
      for (let step = 0; step <= 400; step += STEPS_AT_ONCE) {
        const next = points.filter((point) => point.step > step - STEPS_AT_ONCE && point.step <= step);
        await lab.must('POST', `/runs/${run.id}/metrics:batch`, { points: next });
        const { anomalies, health_warnings, health, convergence } = await lab.diagnose(run);
        expect({ anomalies, health_warnings }, `at step ${step}`).to.deep.equal({
          anomalies: [],
          health_warnings: [],
        });
        expect(health).to.deep.equal({ status: 'ok', reasons: [] });
        const losses = points.filter((point) => point.name === 'val/loss' && point.step <= step);
        expect(convergence).to.include({
          metric: 'val/loss',
          best: Math.min(...losses.map(({ value }) => Number(value))),
        });
        const { is_improving, is_stalled } = convergence;
        expect(is_improving === false && !is_stalled, `worse than its best at step ${step}`).to.equal(false);
      }
    });

    it('diverges with a rate of 3: nothing says that it improves or that all is well', async () => {
      const run = await lab.rig.createRun({ max_steps: 400 });
      await lab.must('POST', `/runs/${run.id}/metrics:batch`, { points: diverging });
      const { convergence, summary } = await lab.diagnose(run);
      expect(convergence).to.include({
        metric: 'val/loss',
        best_step: 10,
        is_improving: false,
        is_stalled: false,
      });
      expect(summary).to.match(/val\/loss is worse than its best: it is [0-9.]+, best [0-9.]+ at step 10\.$/);
      await lab.must('PUT', '/primary-metric', { name: 'val/accuracy', experiment_id: run.experiment_id });
      expect((await lab.diagnose(run)).summary).to.include('val/accuracy is worse than its best');
    });
  });
});

/** What the training logs without a server. */
function record(python: string, options: readonly string[]): MetricPoint[] {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-example-'));
  try {
    const env = { PATH: process.env['PATH'], HOME: cwd, SVC_MODE: 'offline' };
    execFileSync(python, [EXAMPLE, '--pace-ms', '0', '--seed', '4', ...options], {
      cwd,
      env,
      stdio: 'ignore',
    });
    const offline = join(cwd, 'svc-offline');
    const [run] = readdirSync(offline) as [string];
    const lines = readFileSync(join(offline, run, 'points.jsonl'), 'utf8')
      .trim()
      .split('\n');
    return lines.map((line) => JSON.parse(line) as MetricPoint);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
