import type { JobAttempt, MetricSummary } from '@svc/contract';
import { expect } from 'chai';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  attempt,
  checkpoint,
  definition,
  idOf,
  metric,
  node,
  run,
  summary,
} from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

describe('the tables and records', () => {
  const stage = useStage();

  describe('svc-flat-record', () => {
    const cases: [string, object, [string, string][]][] = [
      [
        'plain values',
        { lr: 0.1, name: 'a', on: true, none: null },
        [
          ['lr', '0.1'],
          ['name', 'a'],
          ['on', 'true'],
          ['none', 'null'],
        ],
      ],
      ['objects in objects', { model: { layers: { count: 3 } } }, [['model.layers.count', '3']]],
      [
        'lists and empty objects as JSON',
        { sizes: [1, [2]], empty: {} },
        [
          ['sizes', '[1,[2]]'],
          ['empty', '{}'],
        ],
      ],
      ['texts as text', { html: HOSTILE }, [['html', HOSTILE]]],
    ];
    for (const [what, value, pairs] of cases) {
      it(`shows ${what}`, async () => {
        const record = await stage.mount('svc-flat-record', { properties: { heading: 'Config', value } });
        const names = await record.locator('th').allInnerTexts();
        const values = await record.locator('td').allInnerTexts();
        expect(names.map((name, at) => [name, values[at]])).to.deep.equal(pairs);
        await stage.expectSound(what);
      });
    }
  });

  describe('svc-run-code', () => {
    const mount = (git: object) =>
      stage.mount('svc-run-code', { properties: { run: run(1, { environment: { git } }) } });

    it('says how much of the changes was not sent', async () => {
      const code = await mount({ diff: 'diff --git a/x b/x\n+a\n', diff_cut_bytes: 2048 });
      await code.getByText('the last 2 KiB were not sent').waitFor();
    });

    it('counts the files that were changed', async () => {
      const code = await mount({ diff: 'diff --git a/x b/x\n+a\ndiff --git a/y b/y\n+b\n' });
      await code.getByText('2 files').waitFor();
      await stage.expectSound();
    });

    it('says that the changes themselves were not sent', async () => {
      const code = await mount({ commit: 'c0ffee', dirty: true });
      await code.getByText('The changes themselves were not sent.').waitFor();
    });
  });

  it('svc-run-record shows packages that are no list among the facts', async () => {
    const record = await stage.mount('svc-run-record', {
      properties: { shown: 'environment', run: run(1, { environment: { packages: { torch: '2' } } }) },
    });
    await record.getByText('packages.torch').waitFor();
  });

  describe('svc-metrics-table', () => {
    const row = (name: string) => stage.page.getByRole('row').filter({ hasText: name });
    const mount = (metrics: Record<string, MetricSummary>) =>
      stage.mount('svc-metrics-table', { properties: { summary: summary(run(1), metrics) } });

    it('begins with the primary metric, then by name', async () => {
      const table = await mount({ b: metric(), c: metric({ is_primary: true }), a: metric() });
      const names = await table.locator('tbody th').allInnerTexts();
      expect(names.map((name) => name.replace('primary', '').trim())).to.deep.equal(['c', 'a', 'b']);
      await stage.expectSound();
    });

    it('draws the first rows of very many, more when asked, and finds by name', async () => {
      const names = Array.from({ length: 450 }, (_, at) => `m/${String(at).padStart(3, '0')}`);
      const table = await mount(Object.fromEntries(names.map((name) => [name, metric()])));
      const count = () => table.locator('tbody tr').count();
      expect(await count()).to.equal(200);
      await stage.page.getByText('The first 200 of 450 metrics.').waitFor();
      await stage.expectSound();
      await stage.page.getByRole('button', { name: 'Show 200 more' }).click();
      await stage.page.getByRole('button', { name: 'Show 50 more' }).click();
      await stage.untilEqual(count, 450);
      const find = stage.page.getByLabel('Find metrics by name');
      await find.fill('m/44');
      await stage.untilEqual(count, 10);
      await find.fill('nothing');
      await stage.page.getByText('No metric has these words in its name.').waitFor();
      await find.fill('');
      await stage.untilEqual(count, 200);
    });

    it('breaks a long name between its words', async () => {
      const name = 'train/gradient_norm.before-clipping';
      const table = await mount({ [name]: metric() });
      const html = await table.locator('bdi').innerHTML();
      const words = html.replaceAll(/<!--.*?-->/g, '').split('<wbr>');
      expect(words).to.deep.equal(['train/', 'gradient_', 'norm.', 'before-', 'clipping']);
      await row(name).waitFor();
    });

    it('shows the unit behind the latest and the best value', async () => {
      const record = run(1, { job_id: null });
      await stage.mount('svc-run-overview', {
        properties: { run: record, summary: summary(record, { 'eval/acc': metric(), loss: metric() }) },
        api: { 'GET /metric-definitions': { items: [definition('eval/acc', { unit: '%' })] } },
      });
      await stage.untilEqual(() => row('eval/acc').locator('.unit').allInnerTexts(), ['%', '%']);
      expect(await row('loss').locator('.unit').count()).to.equal(0);
      await stage.expectSound();
    });

    const values: [string, Partial<MetricSummary>, string[]][] = [
      ['a value and the best one', {}, ['0.25', '0.125 @40']],
      ['no best one yet', { best: null }, ['–']],
      ['NaN as what it is', { latest: { value: 'NaN', step: 7, ts: NOW } }, ['NaN']],
      ['infinity as what it is', { latest: { value: '-Infinity', step: 7, ts: NOW } }, ['−∞']],
      ['a very small value', { latest: { value: 1.5e-9, step: 7, ts: NOW } }, ['1.500e−9']],
      ['its goal and its points', { direction: 'maximize', count: 12_345 }, ['maximize', '12,345']],
    ];
    for (const [what, changes, texts] of values) {
      it(`shows ${what}`, async () => {
        await mount({ 'train/loss': metric(changes) });
        for (const text of texts) await row('train/loss').getByText(text).first().waitFor();
      });
    }

    const trends: [MetricSummary['trend'], MetricSummary['direction'], string][] = [
      ['increasing', 'maximize', 'increasing, improving'],
      ['increasing', 'minimize', 'increasing, getting worse'],
      ['decreasing', 'minimize', 'decreasing, improving'],
      ['decreasing', 'maximize', 'decreasing, getting worse'],
      ['stable', 'minimize', 'stable'],
      ['unknown', 'minimize', 'Fewer than four points'],
    ];
    const UNKNOWN = { guessed: true, guessed_from: null, best: null } as const;

    it('shows no best value and no good trend while the direction is unknown, and what to do', async () => {
      const table = await mount({ psi: metric({ ...UNKNOWN, trend: 'decreasing' }), loss: metric() });
      expect(await row('psi').locator('.trend').getAttribute('title')).to.equal('decreasing');
      expect(await row('psi').locator('.trend').getAttribute('class')).not.to.match(/good|bad/);
      expect(await row('psi').locator('.wide').first().innerText()).to.equal('–');
      const hint = await table.locator('.hint').innerText();
      expect(hint)
        .to.include('The direction of psi is unknown')
        .and.to.include('svc metrics set NAME --direction');
      await stage.expectSound();
    });

    it('sets the direction in the project of the run by one click', async () => {
      const api = {
        'PUT /metric-definitions/{name:path}': {
          name: 'eval/psi',
          direction: 'maximize',
          guessed: false,
          guessed_from: null,
          is_primary: false,
          level: 'project',
          project_id: idOf('project', 1),
          experiment_id: null,
          auto: false,
          unit: null,
          description: '',
        },
      };
      await stage.mount('svc-metrics-table', {
        properties: {
          summary: summary(run(1), { 'eval/psi': metric(UNKNOWN) }),
          projectId: idOf('project', 1),
        },
        events: ['svc-metric-changed'],
        api,
      });
      await stage.page.getByRole('button', { name: 'eval/psi: higher is better' }).click();
      await stage.untilEqual(async () => (await stage.heard()).map(([name]) => name), ['svc-metric-changed']);
      expect(stage.api.requests).to.include('PUT /metric-definitions/eval/psi');
      expect(stage.api.bodies).to.deep.include({ direction: 'maximize', project_id: idOf('project', 1) });
    });

    it('offers no click to those who may only read', async () => {
      const properties = { summary: summary(run(1), { psi: metric(UNKNOWN) }) };
      await stage.mount('svc-metrics-table', { properties, canWrite: false });
      expect(await stage.page.getByRole('button').count()).to.equal(0);
    });

    for (const [trend, direction, title] of trends) {
      it(`says of a metric to ${direction} that is ${trend}: ${title}`, async () => {
        await mount({ loss: metric({ trend, direction }) });
        expect(await row('loss').locator('.trend').getAttribute('title')).to.equal(title);
      });
    }
  });

  describe('svc-attempts-table', () => {
    const mount = (attempts: JobAttempt[], viewport = PHONE) =>
      stage.mount('svc-attempts-table', {
        properties: { attempts, shown: 1, nodeNames: { [idOf('node', 1)]: node(1).name } },
        events: ['svc-attempt'],
        viewport,
      });

    const cases: [string, Partial<JobAttempt>, string[]][] = [
      ['a reason in words', { failure_reason: 'OOM' }, ['out of memory']],
      [
        'the server’s sentence, if there is one',
        { failure_reason: 'DISPATCH_FAILED', failure_message: 'no such file' },
        ['no such file'],
      ],
      ['its node by name', {}, ['node-1']],
      ['how long it ran', {}, ['10m 00s']],
      ['its exit code', { exit_code: 0, status: 'SUCCEEDED' }, ['exit code 0']],
    ];
    for (const [what, changes, texts] of cases) {
      it(`shows ${what}, on a phone too`, async () => {
        const table = await mount([attempt(1, changes)]);
        for (const text of texts) await table.getByText(text).first().waitFor();
        await stage.expectSound(what);
      });
    }

    it('says once how it ended', async () => {
      const failure = {
        exit_code: 1,
        failure_reason: 'EXIT_CODE',
        failure_message: 'exited with code 1',
      } as const;
      const table = await mount([attempt(1, failure)]);
      expect(await table.locator('.why').innerText()).to.equal('–');
    });

    it('asks for the log of another attempt', async () => {
      const table = await mount([attempt(2), attempt(1)]);
      await table.getByText('Log below').waitFor();
      await table.getByRole('button', { name: 'Log of attempt 2' }).click();
      expect(await stage.heard()).to.deep.equal([['svc-attempt', 2]]);
    });
  });

  describe('svc-checkpoints-table', () => {
    it('leads to each checkpoint, marks the best, and shows all without a box of its own', async () => {
      const checkpoints = Array.from({ length: 30 }, (_, at) => checkpoint(30 - at, { is_best: at === 3 }));
      const table = await stage.mount('svc-checkpoints-table', { properties: { checkpoints } });
      expect(
        await table.getByRole('link', { name: 'checkpoint-30', exact: true }).getAttribute('href'),
      ).to.equal(`/checkpoints/${idOf('ckpt', 30)}`);
      expect(await table.locator('tr').filter({ hasText: 'best' }).allInnerTexts()).to.have.length(1);
      await table.locator('tbody tr').nth(3).getByText('best', { exact: true }).waitFor();
      const hidden = await table.locator('.scroll').evaluate((box) => box.scrollHeight - box.clientHeight);
      expect(hidden).to.equal(0);
      await stage.expectSound();
    });

    it('shows the end of a path whole, and lets it be copied', async () => {
      const table = await stage.mount('svc-checkpoints-table', {
        properties: { checkpoints: [checkpoint(1, { path: `/${LONG_NAME}/checkpoint-1/` })] },
        viewport: PHONE,
      });
      const name = await table
        .locator('.name')
        .evaluate((element) => [element.scrollWidth, element.clientWidth, element.textContent]);
      expect(name[2]).to.equal('checkpoint-1/');
      expect(name[0]).to.be.at.most(name[1] as number);
      await table.getByRole('button', { name: 'Copy the path' }).waitFor();
      await stage.expectSound();
    });

    for (const viewport of [undefined, PHONE])
      it(`says which checkpoints are gone${viewport ? ', on a phone too' : ''}`, async () => {
        const table = await stage.mount('svc-checkpoints-table', {
          properties: {
            checkpoints: [
              checkpoint(1, { deleted_at: NOW - 3 * MINUTE, path: `/${LONG_NAME}/checkpoint-1` }),
              checkpoint(2),
            ],
          },
          ...(viewport && { viewport }),
        });
        const [gone, there] = [table.locator('tbody tr').nth(0), table.locator('tbody tr').nth(1)];
        await gone.getByText('deleted 3m ago').waitFor();
        expect(await gone.getByRole('button').count()).to.equal(0);
        expect(await there.getByText('deleted').count()).to.equal(0);
        const heights = await table.locator('.path').evaluateAll((all) => all.map((one) => one.clientHeight));
        expect(heights[0]).to.equal(heights[1]);
        await stage.expectSound();
      });
  });
});
