import { expect } from 'chai';
import { OFFLINE, Refusal } from './harness/fake-api.js';
import { bestCheckpoint } from './harness/checkpoint-records.js';
import {
  HOSTILE,
  attempt,
  checkpoint,
  diagnosis,
  evaluation,
  event,
  idOf,
  job,
  line,
  node,
  run,
} from './harness/records.js';
import { DIFF, ID, mountRunPage, type RunWorld } from './harness/run-world.js';
import { PHONE, useStage } from './harness/stage.js';

describe('the tabs of a run', () => {
  const stage = useStage();

  const mount = (world?: RunWorld) => mountRunPage(stage, world);
  describe('its tabs', () => {
    const TABS = [
      'Charts',
      'Overview',
      'Config',
      'Environment',
      'Code',
      'Checkpoints',
      'Evaluations',
      'Events',
      'Diagnosis',
    ];
    const tabs = () => stage.page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link');

    it('have addresses, and an unknown one shows the first', async () => {
      await mount({ tab: 'gone' });
      await stage.untilEqual(() => tabs().allInnerTexts(), TABS);
      expect(await tabs().nth(0).getAttribute('aria-current')).to.equal('page');
      expect(await tabs().nth(2).getAttribute('href')).to.equal(`/runs/${ID}?tab=config`);
    });

    it('lead from a failed run without curves to why its job failed', async () => {
      const page = await mount({ run: { status: 'FAILED', job_id: idOf('job', 1), attempt: 2 } });
      const link = page.getByRole('link', { name: 'Why it failed' });
      expect(await link.getAttribute('href')).to.equal(`/jobs/${idOf('job', 1)}?attempt=2`);
      await stage.expectSound();
    });

    it('show the current one where they are wider than the window, and move nothing else', async () => {
      const api = { 'GET /runs/{run_id}/diagnosis': diagnosis() };
      await mount({ tab: 'diagnosis', viewport: PHONE, api });
      const isInSight = (name: string) =>
        tabs()
          .filter({ hasText: name })
          .evaluate((link) => {
            const { left, right } = link.getBoundingClientRect();
            return left >= 0 && right <= window.innerWidth;
          });
      await stage.untilEqual(() => tabs().count(), TABS.length);
      expect(await isInSight('Diagnosis')).to.equal(true);
      await stage.change({ query: '' });
      await stage.untilEqual(() => isInSight('Charts'), true);
      expect(await stage.page.evaluate(() => window.scrollY)).to.equal(0);
      await stage.expectSound();
    });

    const empty: [tab: string, headline: string][] = [
      ['charts', 'No metrics yet'],
      ['config', 'No config'],
      ['environment', 'No environment'],
      ['code', 'No commit'],
      ['checkpoints', 'No checkpoints'],
      ['evaluations', 'No evaluations'],
      ['events', 'No events'],
    ];
    for (const [tab, headline] of empty) {
      it(`say how ${tab} come about when there is nothing`, async () => {
        const page = await mount({ tab, api: { 'GET /evaluations': { items: [] } } });
        await page.getByRole('heading', { name: headline }).waitFor();
        await stage.expectSound(tab);
      });
    }

    const offline: [tab: string, route: string, noun: string][] = [
      ['checkpoints', 'GET /runs/{run_id}/checkpoints', 'checkpoints'],
      ['evaluations', 'GET /evaluations', 'evaluations'],
      ['events', 'GET /events', 'events'],
      ['diagnosis', 'GET /runs/{run_id}/diagnosis', 'diagnosis'],
    ];
    for (const [tab, route, noun] of offline) {
      it(`say that ${noun} could not be loaded`, async () => {
        const page = await mount({ tab, api: { [route]: OFFLINE } });
        await page.getByRole('heading', { name: `The ${noun} could not be loaded` }).waitFor();
      });
    }

    it('show the config, searched by name and value', async () => {
      const page = await mount({
        tab: 'config',
        run: { config: { lr: 0.1, model: { layers: 3, name: 'resnet' }, html: HOSTILE } },
      });
      await page.getByRole('rowheader', { name: 'model.layers' }).waitFor();
      await page.getByText('4 values').waitFor();
      await page.getByText(HOSTILE).waitFor();
      await page.getByLabel('Search Config').fill('RESNET');
      await page.getByText('1 of 4').waitFor();
      expect(await page.getByRole('rowheader').allInnerTexts()).to.deep.equal(['model.name']);
      await page.getByLabel('Search Config').fill('nothing');
      await page.getByText('Nothing contains “nothing”.').waitFor();
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
    });

    const environment = {
      hostname: 'node-7',
      packages: ['numpy==1', 'torch==2'],
      git: { commit: 'c0ffee00', branch: 'main', dirty: true, diff: DIFF, diff_cut_bytes: 2048 },
    };

    it('show the environment with its packages', async () => {
      const page = await mount({ tab: 'environment', run: { environment } });
      await page.getByText('node-7').waitFor();
      await page.getByText('torch==2').waitFor();
      await stage.expectSound();
    });

    for (const theme of ['light', 'dark'] as const) {
      it(`show the commit and what was changed, in ${theme}`, async () => {
        const page = await mount({ tab: 'code', run: { environment }, theme });
        await page.getByText('1 file, 63 B, the last 2 KiB were not sent').waitFor();
        expect(await page.locator('.added').innerText()).to.equal('+lr = 2\n');
        expect(await page.locator('.removed').innerText()).to.equal('-lr = 1\n');
        await stage.expectSound(theme);
      });
    }

    it('show the newest checkpoints, and the node where their files are', async () => {
      const items = [checkpoint(2), checkpoint(1, { step: null, size: null, path: '/out/last/' })];
      const page = await mount({
        tab: 'checkpoints',
        run: { job_id: idOf('job', 7), attempt: 2 },
        api: {
          'GET /runs/{run_id}/checkpoints': { items },
          'GET /jobs/{job_id}/attempts': { items: [attempt(2, { node_id: idOf('node', 4) }), attempt(1)] },
          'GET /nodes': { items: [node(3), node(4)] },
          'GET /checkpoints:recommend': bestCheckpoint(2),
        },
      });
      await page.getByRole('row', { name: /200 .*checkpoint-2.*1\.5 KiB/ }).waitFor();
      await page.getByText('Best of this run: the lowest val/loss').waitFor();
      expect(await page.getByRole('link', { name: 'Compare them' }).getAttribute('href')).to.equal(
        `/checkpoints?run_id=${ID}`,
      );
      await page.getByText('2, on node-4', { exact: true }).waitFor();
      await stage.expectSound();
    });

    it('say why no checkpoint is the best', async () => {
      const page = await mount({
        tab: 'checkpoints',
        api: {
          'GET /runs/{run_id}/checkpoints': { items: [checkpoint(1)] },
          'GET /checkpoints:recommend': new Refusal(404, 'not_found', 'give --metric', { metric: null }),
        },
      });
      await page
        .getByText('Checkpoints are ranked by the primary metric, and none is set. Set one in Settings.')
        .waitFor();
      await page.locator('svc-best-checkpoint').getByRole('link', { name: 'Settings' }).waitFor();
      expect(await page.getByText('--metric').count()).to.equal(0);
      await page.getByRole('link', { name: 'checkpoint-1' }).waitFor();
    });

    it('show evaluations with their results and errors', async () => {
      const page = await mount({
        tab: 'evaluations',
        api: {
          'GET /evaluations': {
            items: [
              evaluation(2, { metrics: { 'eval/acc': 0.97 }, suite: 'held-out', runtime_s: 65 }),
              evaluation(1, { status: 'FAILED', metrics: {}, error: HOSTILE }),
            ],
          },
        },
      });
      await page.getByRole('row', { name: /Succeeded eval\/acc 0\.97 held-out .*1m 05s/ }).waitFor();
      await page.getByText(HOSTILE).waitFor();
      await stage.expectSound();
    });

    it('show events, new ones too', async () => {
      const page = await mount({
        tab: 'events',
        api: { 'GET /events': { items: [event(1, { run_id: ID })] } },
      });
      await page.getByText('event-1').waitFor();
      await stage.push('/events/stream', [event(2, { run_id: ID, title: 'lr dropped' })]);
      await page.locator('.title').getByText('lr dropped').waitFor();
      expect(stage.api.requests).to.include(`GET /events?run_id=${ID}&limit=200`);
    });

    it('show the other attempts of its job', async () => {
      const own = { job_id: idOf('job', 7) };
      const page = await mount({
        tab: 'overview',
        run: { ...own, attempt: 2 },
        api: {
          'GET /jobs/{job_id}': job(7),
          'GET /jobs/{job_id}/runs': {
            items: [run(1, { ...own, attempt: 2 }), run(9, { ...own, attempt: 1, status: 'FAILED' })],
          },
        },
      });
      await page.getByText('this run').waitFor();
      expect(await page.getByRole('link', { name: 'run-9' }).getAttribute('href')).to.equal(
        `/runs/${idOf('run', 9)}`,
      );
      await stage.expectSound();
    });
  });

  describe('its diagnosis', () => {
    const sick = diagnosis({
      job_id: idOf('job', 7),
      summary: 'The run is running at step 90. What needs attention: loss is NaN.',
      anomalies: [
        {
          kind: 'nan',
          severity: 'critical',
          message: 'loss is NaN from step 70 on (3 points)',
          evidence: [{ metric: 'loss', step: 70, value: 'NaN' }, { event_id: idOf('evt', 1) }],
          fixes: ['Lower the learning rate.'],
        },
      ],
      next_actions: [
        {
          tool: 'query_metrics',
          args: { run_id: ID, names: ['loss'] },
          reason: 'The points before show how it began.',
        },
        {
          tool: 'cancel_job',
          args: { job_id: idOf('job', 7), confirm: true },
          reason: 'All from here on is NaN.',
        },
        {
          tool: 'get_best_checkpoint',
          args: { run_id: ID, metric: 'val/loss' },
          reason: 'Its best checkpoint is the one to keep.',
        },
      ],
      last_errors: [line(1, HOSTILE, 'stderr')],
    });

    for (const theme of ['light', 'dark'] as const) {
      it(`says what is wrong, where, and what to do, in ${theme}`, async () => {
        const page = await mount({
          tab: 'diagnosis',
          theme,
          run: { job_id: idOf('job', 7), attempt: 1 },
          api: { 'GET /runs/{run_id}/diagnosis': sick },
        });
        const point = page.getByRole('link', { name: 'loss is NaN at step 70' });
        expect(await point.getAttribute('href')).to.equal(`/runs/${ID}?metric=loss&step=70`);
        await page.getByText('Lower the learning rate.').waitFor();
        expect(await page.getByRole('link', { name: 'Job and log' }).getAttribute('href')).to.equal(
          `/jobs/${idOf('job', 7)}`,
        );
        const kept = page.getByRole('listitem').filter({ hasText: 'the one to keep' }).getByRole('link');
        expect(await kept.getAttribute('href')).to.equal(`/checkpoints?run_id=${ID}&metric=val%2Floss`);
        await page.getByText(HOSTILE).waitFor();
        await stage.expectSound(theme);
      });
    }

    it('says once how the run goes, and heads no figures where there are none', async () => {
      const { convergence } = diagnosis();
      const worse = { ...convergence, is_improving: false };
      const unknown = {
        metric: null,
        latest: null,
        best: null,
        trend: 'unknown',
        is_improving: null,
      } as const;
      for (const [summary, changes] of [
        ['loss improves. Nothing is wrong.', {}],
        ['loss is worse than its best.', { convergence: worse }],
        [
          'The run has failed and has no points.',
          {
            status: 'FAILED',
            convergence: { ...convergence, ...unknown },
            progress: { ...diagnosis().progress, step: null, steps_per_s: null },
            last_point_at: null,
          },
        ],
      ] as const) {
        const found = diagnosis({ summary, ...changes });
        const page = await mount({ tab: 'diagnosis', api: { 'GET /runs/{run_id}/diagnosis': found } });
        await page.getByText(summary).waitFor();
        const said = summary.includes('wrong') ? 1 : 0;
        expect(await page.getByText('wrong').count(), summary).to.equal(said);
        const figures = page.getByRole('heading', { name: 'Figures' });
        expect(await figures.count(), `${summary}: a heading above nothing`).to.equal(
          found.last_point_at === null ? 0 : 1,
        );
        await stage.expectSound();
      }
    });

    it('gives the warnings in the head the place where they can be seen', async () => {
      const page = await mount({
        summary: { health: { status: 'warning', reasons: ['loss jumped to 9 at step 50'] } },
        api: {
          'GET /runs/{run_id}/diagnosis': diagnosis({
            health_warnings: [
              {
                status: 'warning',
                message: 'loss jumped to 9 at step 50',
                evidence: [{ metric: 'loss', step: 50, value: 9 }],
              },
            ],
          }),
        },
      });
      const show = page.locator('.reasons').getByRole('link', { name: 'Show' });
      expect(await show.getAttribute('href')).to.equal(`/runs/${ID}?metric=loss&step=50`);
    });
  });
});
