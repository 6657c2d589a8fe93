import type { Run, RunSummary } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiTable } from './harness/fake-api.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  attempt,
  checkpoint,
  diagnosis,
  evaluation,
  event,
  idOf,
  job,
  line,
  metric,
  node,
  run,
  series,
  summary,
} from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

const ID = idOf('run', 1);
const DIFF = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-lr = 1\n+lr = 2\n';

describe('the page of a run', () => {
  const stage = useStage();

  interface World {
    readonly run?: Partial<Run>;
    readonly metrics?: RunSummary['metrics'];
    readonly summary?: Partial<RunSummary>;
    readonly tab?: string;
    readonly api?: ApiTable;
    readonly viewport?: typeof PHONE;
    readonly theme?: 'light' | 'dark';
  }
  const mount = ({
    run: changes = {},
    metrics = {},
    summary: more = {},
    tab = '',
    api = {},
    ...rest
  }: World = {}) => {
    const record = run(1, changes);
    const points = Object.fromEntries(Object.keys(metrics).map((name) => [name, series([1, 0.5])]));
    return stage.mount('svc-run-page', {
      properties: { runId: ID, query: `tab=${tab}` },
      api: {
        'GET /runs/{run_id}': record,
        'GET /runs/{run_id}/summary': summary(record, metrics, more),
        'GET /runs/{run_id}/metrics': { run_id: ID, series: points },
        'GET /runs/{run_id}/checkpoints': { items: [] },
        ...api,
      },
      ...rest,
    });
  };
  const head = () => stage.page.getByRole('heading', { level: 1 });
  const factOf = (name: string) =>
    stage.page.locator('.facts > div').filter({ has: stage.page.getByText(name, { exact: true }) });

  it('holds its place until it is there', async () => {
    const page = await mount({ api: { 'GET /runs/{run_id}': () => new Promise(() => {}) } });
    await page.locator('svc-skeleton').waitFor({ state: 'attached' });
    expect(await head().count()).to.equal(0);
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
        await stage.untilEqual(
          async () => (await page.locator('.reasons li').allInnerTexts()).map((text) => text.trim()),
          reasons.length === 0 ? [] : [...reasons, 'What to do about it'],
        );
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
        [{ points: [{ name: 'acc', step: 30, value: 0.99, ts: NOW }] }],
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
        },
      });
      await page.getByRole('row', { name: /200 .*checkpoint-2.*1\.5 KiB/ }).waitFor();
      await page.getByText('2, on node-4', { exact: true }).waitFor();
      await stage.expectSound();
    });

    it('show evaluations with their results and errors', async () => {
      const page = await mount({
        tab: 'evaluations',
        api: {
          'GET /evaluations': {
            items: [
              evaluation(2, { metrics: { 'eval/acc': 0.97 }, suite: 'held-out', runtime_s: 65 }),
              evaluation(1, { status: 'FAILED', error: HOSTILE }),
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
      summary: 'The run is RUNNING at step 90. What needs attention: loss is NaN.',
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
        expect(await point.getAttribute('href')).to.equal(`/runs/${ID}?tab=charts&x=step&at=70`);
        await page.getByText('Lower the learning rate.').waitFor();
        expect(await page.getByRole('link', { name: 'Job and log' }).getAttribute('href')).to.equal(
          `/jobs/${idOf('job', 7)}`,
        );
        await page.getByText(HOSTILE).waitFor();
        await stage.expectSound(theme);
      });
    }

    it('says that nothing is wrong', async () => {
      const page = await mount({ tab: 'diagnosis', api: { 'GET /runs/{run_id}/diagnosis': diagnosis() } });
      await page.getByText('Nothing looks wrong in its metrics and events.').waitFor();
      await stage.expectSound();
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
      expect(await show.getAttribute('href')).to.equal(`/runs/${ID}?tab=charts&x=step&at=50`);
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
