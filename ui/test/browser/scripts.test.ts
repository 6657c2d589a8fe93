import { expect } from 'chai';
import { NOW, idOf, job, metric, node, run, series, summary } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const LOOKS = {
  light: { theme: 'light', viewport: DESK },
  dark: { theme: 'dark', viewport: DESK },
  phone: { theme: 'light', viewport: PHONE },
} as const;
const HEBREW = 'אימון של רשת ‮ניסוי 3';
const LONG = '训练很长的名字'.repeat(28);
const LONG_METRIC = `eval/${'דיוק'.repeat(60)}`;

describe('names in any script', () => {
  const stage = useStage();

  for (const [look, options] of Object.entries(LOOKS)) {
    it(`stay in their cells in the list of jobs (${look})`, async () => {
      const items = [
        job(4, { name: HEBREW, project: HEBREW, node_id: idOf('node', 1) }),
        job(3, { name: LONG, project: LONG, experiment: HEBREW, node_id: idOf('node', 1) }),
        job(2, {
          name: HEBREW,
          status: 'FAILED',
          failure_reason: 'EXIT_CODE',
          failure_message: 'exited with code 1',
        }),
        job(1, { name: 'plain', project: 'vision', node_id: idOf('node', 1) }),
      ];
      const page = await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: {
          'GET /jobs': { items, next_before: null },
          'GET /nodes': { items: [node(1, { name: HEBREW })] },
        },
        ...options,
      });
      await page.getByText('exited with code 1').first().waitFor();
      const lefts = await page
        .locator('svc-job-row')
        .locator('svc-status')
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)));
      if (look !== 'phone') expect(new Set(lefts).size, 'every status stands in its column').to.equal(1);
      await stage.expectSound(look);
      await stage.screenshot(`scripts-jobs-${look}`);
    });

    it(`stay in their cells on the page of a run (${look})`, async () => {
      const record = run(1, {
        name: `${HEBREW} ${LONG}`.slice(0, 200),
        tags: [HEBREW],
        step: 10,
        max_steps: 10,
      });
      const metrics = {
        [LONG_METRIC.slice(0, 250)]: metric({ is_primary: true }),
        [HEBREW]: metric({ guessed_from: null, best: null, trend: 'decreasing' }),
        'train/loss': metric({ trend: 'decreasing', latest: { value: 0.3, step: 9, ts: NOW } }),
      };
      const points = Object.fromEntries(Object.keys(metrics).map((name) => [name, series([1, 0.5])]));
      const page = await stage.mount('svc-run-page', {
        properties: { runId: record.id, query: 'tab=overview' },
        api: {
          'GET /runs/{run_id}': record,
          'GET /runs/{run_id}/summary': summary(record, metrics),
          'GET /runs/{run_id}/metrics': { run_id: record.id, series: points },
          'GET /runs/{run_id}/checkpoints': { items: [] },
        },
        ...options,
      });
      await page.locator('svc-metric-direction').first().waitFor();
      const name = await page.locator('th bdi').first().boundingBox();
      const chip = await page.locator('th .primary').first().boundingBox();
      expect(chip!.y + chip!.height, 'what follows a name follows it').to.be.at.least(
        name!.y + name!.height - 4,
      );
      await stage.screenshot(`scripts-run-${look}`);
      await stage.expectSound(look);
      await stage.change({ query: '' });
      await page.locator('svc-chart').first().scrollIntoViewIfNeeded();
      await page.locator('svc-chart .uplot').first().waitFor();
      await stage.expectSound(`the charts, ${look}`);
    });
  }
});
