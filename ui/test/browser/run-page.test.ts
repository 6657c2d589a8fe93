import type { Run, RunSummary } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiTable } from './harness/fake-api.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  checkpoint,
  diagnosis,
  evaluation,
  event,
  idOf,
  job,
  metric,
  run,
  summary,
} from './harness/records.js';
import { DIFF, ID, mountRunPage, type RunWorld } from './harness/run-world.js';
import { PHONE, useStage } from './harness/stage.js';

describe('the page of a run', () => {
  const stage = useStage();

  const mount = (world?: RunWorld) => mountRunPage(stage, world);
  const head = () => stage.page.getByRole('heading', { level: 1 });
  const factOf = (name: string) =>
    stage.page.locator('.facts > div').filter({ has: stage.page.getByText(name, { exact: true }) });

  it('holds its place until it is there', async () => {
    const page = await mount({ api: { 'GET /runs/{run_id}': () => new Promise(() => {}) } });
    await page.locator('svc-skeleton').waitFor({ state: 'attached' });
    expect(await page.locator('h1').innerText()).to.equal('Run');
  });

  it('says that there is no such run, and leads to those there are', async () => {
    const page = await mount({ api: { 'GET /runs/{run_id}': new Refusal(404, 'not_found', 'no run') } });
    await page.getByRole('heading', { name: 'Run not found' }).waitFor();
    expect(await page.getByRole('link', { name: 'Show all runs' }).getAttribute('href')).to.equal('/runs');
    await stage.expectSound();
  });

  it('says that the run could not be loaded, and tries again when asked', async () => {
    const page = await mount({ api: { 'GET /runs/{run_id}': OFFLINE } });
    await page.getByRole('heading', { name: 'The run could not be loaded' }).waitFor();
    stage.api.change({ 'GET /runs/{run_id}': run(1) });
    await page.getByRole('button', { name: 'Try again' }).click();
    await head().filter({ hasText: 'run-1' }).waitFor();
    await stage.untilEqual(() => stage.page.title(), 'run-1 · svc');
  });

  const facts: [string, Partial<Run>, [name: string, value: string][]][] = [
    [
      'no place',
      {},
      [
        ['Project', '–'],
        ['Experiment', '–'],
      ],
    ],
    [
      'a place by name',
      { project_id: idOf('prj', 1), experiment_id: idOf('exp', 1) },
      [
        ['Project', 'vision'],
        ['Experiment', 'lr'],
      ],
    ],
    ['a place that is gone', { project_id: idOf('prj', 999) }, [['Project', '000999']]],
    ['its job, which is gone', { job_id: idOf('job', 8), attempt: 2 }, [['Job', '000008, attempt 2']]],
    [
      'its job, and the source files of it',
      { job_id: idOf('job', 7), attempt: 2 },
      [
        ['Job', 'job-7, attempt 2'],
        ['Source files', 'a1a1a1a1a1a1'],
      ],
    ],
    ['its epoch', { epoch: 1.23456 }, [['Epoch', '1.23']]],
    ['its source', { source: 'import', status: 'IMPORTED' }, [['Source', 'import']]],
    ['its tags', { tags: ['best', 'a b'] }, [['Tags', 'best, a b']]],
    [
      'its commit',
      { environment: { git: { commit: 'c0ffee0012345678', branch: 'main', dirty: true } } },
      [['Commit', 'c0ffee00 main, with changes']],
    ],
    [
      'how long it took',
      { started_at: NOW - 90 * MINUTE, finished_at: NOW, status: 'SUCCEEDED' },
      [['Duration', '1h 30m']],
    ],
  ];
  for (const [what, changes, pairs] of facts) {
    it(`shows ${what}`, async () => {
      const withSource = job(7, { snapshot: 'a1'.repeat(32) });
      const place = { name: 'vision', description: '', run_count: 1, created_at: NOW };
      await mount({
        run: changes,
        tab: 'overview',
        api: {
          'GET /jobs/{job_id}/runs': { items: [] },
          'GET /jobs/{job_id}':
            changes.job_id === idOf('job', 7) ? withSource : new Refusal(404, 'not_found', ''),
          'GET /projects': { items: [{ ...place, id: idOf('prj', 1) }] },
          'GET /experiments': {
            items: [{ ...place, id: idOf('exp', 1), name: 'lr', project_id: idOf('prj', 1) }],
          },
        },
      });
      for (const [name, value] of pairs)
        await factOf(name).getByText(value, { exact: true }).first().waitFor();
    });
  }

  describe('its head', () => {
    const OF_JOB = {
      job_id: idOf('job', 7),
      attempt: 2,
      project_id: idOf('prj', 1),
      experiment_id: idOf('exp', 1),
    };
    const place = { description: '', run_count: 1, created_at: NOW };
    const PLACES: ApiTable = {
      'GET /projects/{project_id}': { ...place, id: idOf('prj', 1), name: 'vision' },
      'GET /experiments/{experiment_id}': {
        ...place,
        id: idOf('exp', 1),
        name: 'lr',
        project_id: idOf('prj', 1),
      },
    };
    const ofJob = (job: object, more: RunWorld = {}) =>
      mount({ run: OF_JOB, ...more, api: { 'GET /jobs/{job_id}': job, ...PLACES } });
    const linkTo = (name: string) =>
      stage.page.locator('svc-run-place').getByRole('link', { name, exact: true }).getAttribute('href');

    it('leads to its job, its log, its project and experiment, and a comparison', async () => {
      const page = await ofJob(job(7, { attempt: 2, status: 'RUNNING' }));
      await page.getByText('job-7').waitFor();
      await page.getByRole('link', { name: 'lr', exact: true }).waitFor();
      expect(await linkTo('job-7')).to.equal(`/jobs/${OF_JOB.job_id}`);
      expect(await linkTo('Log')).to.equal(`/jobs/${OF_JOB.job_id}?attempt=2&view=log`);
      expect(await linkTo('vision')).to.equal(`/projects/${OF_JOB.project_id}`);
      expect(await linkTo('lr')).to.equal(`/experiments/${OF_JOB.experiment_id}`);
      expect(await linkTo('Compare')).to.equal(`/compare?runs=${ID}`);
      await stage.expectSound();
    });

    it('cancels the job while it runs', async () => {
      const page = await ofJob(job(7, { attempt: 2, status: 'RUNNING' }));
      await page.getByRole('button', { name: 'Cancel job job-7' }).click();
      stage.api.change({
        'POST /jobs/{job_id}/cancel': { job_id: OF_JOB.job_id, result: 'CANCELLED', kill_grace_s: 10 },
        'GET /jobs/{job_id}': job(7, { attempt: 2, status: 'CANCELLED' }),
      });
      await stage.page.getByRole('button', { name: 'Cancel the job' }).click();
      await stage.untilEqual(() => page.getByRole('button', { name: /^Cancel/ }).count(), 0);
      expect(await page.getByRole('button', { name: /^Retry/ }).count()).to.equal(0);
    });

    const notToCancel: [string, object, Partial<Run>][] = [
      ['of another attempt', { attempt: 3, status: 'RUNNING' }, {}],
      ['that has ended', { attempt: 2, status: 'SUCCEEDED' }, {}],
      ['of which this run has ended', { attempt: 2, status: 'RUNNING' }, { finished_at: NOW }],
    ];
    for (const [what, changes, more] of notToCancel)
      it(`does not cancel a job ${what}`, async () => {
        const page = await ofJob(job(7, changes), { run: { ...OF_JOB, ...more } });
        await page.getByText('job-7').waitFor();
        expect(await page.getByRole('button', { name: /^Cancel/ }).count()).to.equal(0);
      });

    it('leads to a comparison alone without a job or a project', async () => {
      const page = await mount();
      await page.getByRole('link', { name: 'Compare', exact: true }).waitFor();
      expect(await page.locator('svc-run-place').getByRole('link').count()).to.equal(1);
    });
  });

  const rests: [string, Partial<Run>, RegExp | null][] = [
    [
      'the time left at the pace so far',
      { started_at: NOW - 10 * MINUTE, step: 100, max_steps: 300 },
      /about 2\dm \d\ds left/,
    ],
    ['no time left without a step', { started_at: NOW - 10 * MINUTE, max_steps: 300 }, null],
    ['no time left without a maximum', { started_at: NOW - 10 * MINUTE, step: 100 }, null],
    ['no time left at the last step', { started_at: NOW - 10 * MINUTE, step: 300, max_steps: 300 }, null],
    [
      'no time left of a stale run',
      { started_at: NOW - 10 * MINUTE, step: 100, max_steps: 300, stale_since: NOW - 6 * MINUTE },
      null,
    ],
    [
      'no time left of a run that is over',
      { started_at: NOW - 10 * MINUTE, finished_at: NOW, status: 'FAILED', step: 1, max_steps: 300 },
      null,
    ],
  ];
  for (const [what, changes, text] of rests) {
    it(`shows ${what}`, async () => {
      const page = await mount({ run: changes });
      await page.locator('.figures').waitFor();
      if (text) await page.getByText(text).waitFor();
      else expect(await page.getByText(/left/).count()).to.equal(0);
    });
  }

  describe('its health', () => {
    const cases: [RunSummary['health']['status'], string[], string | null][] = [
      ['ok', [], null],
      ['stale', ['No point for 10 minutes.'], 'Stale'],
      ['warning', ['train/loss is rising.'], 'Warning'],
      ['critical', ['train/loss is NaN since step 7.', 'GPU 0 is too hot.'], 'Critical'],
    ];
    for (const [state, reasons, label] of cases) {
      it(`is ${state}: ${reasons.join(' ') || 'nothing to say'}`, async () => {
        const page = await mount({
          summary: { health: { status: state, reasons } },
          api: { 'GET /runs/{run_id}/diagnosis': diagnosis() },
        });
        await head().waitFor();
        const said = page.locator('.reasons li, .reasons > a');
        const told = reasons.length === 0 ? [] : [...reasons, 'What to do about it'];
        await stage.untilEqual(async () => (await said.allInnerTexts()).map((text) => text.trim()), told);
        const shown = await page.locator('.page-head svc-status').allTextContents();
        expect(shown).to.have.length(label === null ? 1 : 2);
        if (label !== null) await page.locator('.page-head').getByText(label).waitFor();
        await stage.expectSound();
      });
    }
  });

  describe('its metrics', () => {
    it('say how to log the first one', async () => {
      const page = await mount();
      await page.getByRole('heading', { name: 'No metrics yet' }).waitFor();
      await page.getByText('run = svc.init()').waitFor();
      await stage.expectSound();
    });

    it('are told in a table on the overview', async () => {
      const page = await mount({ metrics: { 'train/loss': metric({ is_primary: true }) }, tab: 'overview' });
      await page
        .locator('svc-metrics-table')
        .getByRole('rowheader', { name: 'train/loss primary' })
        .waitFor();
      await page.getByText('train/loss 0.25, best 0.125 at step 40').waitFor();
      await stage.expectSound();
    });

    it('show no best value of a primary metric whose direction is unknown', async () => {
      const page = await mount({
        metrics: { lr: metric({ is_primary: true, guessed_from: null, best: null }) },
      });
      await page.locator('.figures').getByText('lr 0.25', { exact: true }).waitFor();
      expect(await page.locator('.figures').getByText('best').count()).to.equal(0);
    });

    it('say that a run which is over has none', async () => {
      const page = await mount({ run: { status: 'SUCCEEDED', finished_at: NOW } });
      await page.getByText('This run ended without logging a metric.').waitFor();
    });

    it('are shown with their curves, live', async () => {
      const page = await mount({
        metrics: { 'train/loss': metric({ is_primary: true }), acc: metric({ direction: 'maximize' }) },
      });
      await stage.untilEqual(() => page.locator('svc-chart .uplot').count(), 2);
      await stage.push(
        `/runs/${ID}/metrics/stream`,
        [{ points: [{ name: 'acc', step: 100, value: 0.99, ts: NOW }] }],
        'points',
      );
      await page.locator('svc-chart', { hasText: 'acc' }).getByText('0.99').waitFor();
      await stage.expectSound();
    });

    it('have no stream once the run is over', async () => {
      const page = await mount({
        run: { status: 'SUCCEEDED', finished_at: NOW },
        metrics: { loss: metric() },
      });
      await page.locator('svc-chart .uplot').waitFor();
      expect(await stage.page.evaluate('harness.openStreams()')).to.deep.equal(['/api/v1/events/stream']);
      expect(await page.getByText('live', { exact: true }).count()).to.equal(0);
    });

    it('say that their points could not be loaded', async () => {
      const page = await mount({
        metrics: { loss: metric() },
        api: { 'GET /runs/{run_id}/metrics': OFFLINE },
      });
      await page.getByText('The points could not be loaded.').waitFor();
    });
  });

  it('shows its end as soon as an event tells of it', async () => {
    const page = await mount();
    await page.locator('.page-head').getByText('Running').waitFor();
    const over = run(1, { status: 'SUCCEEDED', finished_at: NOW });
    stage.api.change({ 'GET /runs/{run_id}': over, 'GET /runs/{run_id}/summary': summary(over) });
    await stage.push('/events/stream', [event(1, { run_id: ID, type: 'RUN_FINISHED' })]);
    await page.locator('.page-head svc-status').getByText('Succeeded').waitFor();
    await page.getByText('This run ended without logging a metric.').waitFor();
  });

  it('keeps what it has when a refresh fails, and says so', async () => {
    const page = await mount();
    await head().waitFor();
    stage.api.change({ 'GET /runs/{run_id}': OFFLINE });
    await stage.push('/events/stream', [event(1, { run_id: ID })]);
    await page.getByText('This may be out of date.').waitFor();
    expect(await head().innerText()).to.equal('run-1');
  });

  it('says that the run was deleted, and offers nothing more to do with it', async () => {
    await (await mount()).getByText('Running').first().waitFor();
    stage.api.change({ 'GET /runs/{run_id}': new Refusal(404, 'not_found', 'no run') });
    await stage.push('/events/stream', [event(1, { run_id: ID, type: 'RUN_DELETED' })]);
    await stage.page.getByText('This run was deleted').waitFor();
    expect(await stage.page.getByRole('button').count()).to.equal(0);
  });

  it('says of an imported run that failed that it failed', async () => {
    const page = await mount({ run: { source: 'import', status: 'FAILED', finished_at: NOW } });
    await page.locator('.page-head svc-status').getByText('Failed').waitFor();
    await page.locator('.page-head').getByText('imported').waitFor();
  });

  for (const [where, look] of Object.entries({
    'a desk': {},
    'a phone': { viewport: PHONE },
    'the dark': { theme: 'dark' as const },
  })) {
    it(`fits ${where} with very long texts, on every tab`, async function () {
      this.timeout(60_000);
      const page = await mount({
        run: {
          name: LONG_NAME,
          notes: `${HOSTILE}\n${LONG_NAME}`,
          tags: Array.from({ length: 20 }, (_, at) => `tag-${at}-${LONG_NAME.slice(0, 50)}`),
          config: { [LONG_NAME]: LONG_NAME, nested: { deep: { [LONG_NAME]: [1, 2, 3] } } },
          environment: {
            hostname: LONG_NAME,
            packages: [LONG_NAME],
            git: { commit: LONG_NAME, branch: LONG_NAME, diff: `${DIFF}+${LONG_NAME}\n` },
          },
          step: 1e12,
          max_steps: 2e12,
        },
        metrics: {
          [LONG_NAME]: metric({ is_primary: true, latest: { value: 'NaN', step: 1e9, ts: NOW } }),
          [`${LONG_NAME}/2`]: metric({ best: null, trend: 'increasing' }),
        },
        summary: { health: { status: 'critical', reasons: [LONG_NAME] } },
        api: {
          'GET /runs/{run_id}/checkpoints': {
            items: [checkpoint(1, { path: `/${LONG_NAME}/${LONG_NAME}` })],
          },
          'GET /evaluations': {
            items: [evaluation(1, { suite: LONG_NAME, dataset: LONG_NAME, metrics: { [LONG_NAME]: 1 } })],
          },
          'GET /events': { items: [event(1, { title: LONG_NAME, message: LONG_NAME })] },
          'GET /runs/{run_id}/diagnosis': diagnosis({
            summary: LONG_NAME,
            anomalies: [
              {
                kind: 'x',
                severity: 'warning',
                message: LONG_NAME,
                evidence: [{ field: LONG_NAME, value: LONG_NAME }],
                fixes: [LONG_NAME],
              },
            ],
          }),
        },
        ...look,
      });
      const parts: [tab: string, element: string][] = [
        ['overview', 'svc-metrics-table'],
        ['config', 'svc-flat-record'],
        ['environment', 'svc-flat-record'],
        ['code', 'svc-run-code .diff'],
        ['checkpoints', 'svc-checkpoints-table'],
        ['evaluations', 'svc-run-evaluations table'],
        ['events', 'svc-events-list'],
        ['diagnosis', 'svc-run-diagnosis .summary'],
        ['charts', 'svc-chart'],
      ];
      for (const [tab, element] of parts) {
        await stage.change({ query: `tab=${tab}` });
        await page.locator(element).first().waitFor();
        await stage.expectSound(`${where}: ${tab}`);
      }
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
    });
  }
});
