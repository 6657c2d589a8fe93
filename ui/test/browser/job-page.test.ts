import type { Job } from '@svc/contract';
import { expect } from 'chai';
import { Download, OFFLINE, Refusal, type ApiTable } from './harness/fake-api.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  attempt,
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
import { ID, mountJobPage, tail, type JobWorld } from './harness/job-world.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const LOG = `/jobs/${ID}/logs/stream`;

describe('the page of a job', () => {
  const stage = useStage();

  const mount = (world?: JobWorld) => mountJobPage(stage, world);
  const head = () => stage.page.getByRole('heading', { level: 1 });

  it('holds its place until it is there', async () => {
    const page = await mount({ api: { 'GET /jobs/{job_id}': () => new Promise(() => {}) } });
    await page.locator('svc-skeleton').waitFor({ state: 'attached' });
    expect(await page.locator('h1').innerText()).to.equal('Job');
  });

  it('says that there is no such job, and leads to those there are', async () => {
    const page = await mount({
      api: { 'GET /jobs/{job_id}': new Refusal(404, 'not_found', `no job "${ID}"`) },
    });
    await page.getByRole('heading', { name: 'Job not found' }).waitFor();
    expect(await page.getByRole('link', { name: 'Show all jobs' }).getAttribute('href')).to.equal('/jobs');
    expect(await page.getByRole('button', { name: 'Try again' }).count()).to.equal(0);
    await stage.expectSound();
  });

  it('says that the job could not be loaded, and tries again when asked', async () => {
    const page = await mount({ api: { 'GET /jobs/{job_id}': OFFLINE } });
    await page.getByRole('heading', { name: 'The job could not be loaded' }).waitFor();
    stage.api.change({ 'GET /jobs/{job_id}': job(1) });
    await page.getByRole('button', { name: 'Try again' }).click();
    await head().filter({ hasText: 'job-1' }).waitFor();
  });

  it('names the browser’s tab after the job', async () => {
    await mount();
    await stage.untilEqual(() => stage.page.title(), 'job-1 · svc');
  });

  const facts: [string, Partial<Job>, [name: string, value: string][]][] = [
    ['needs', { resources: { gpu: 4, cpu_only: false } }, [['Resources', '4 GPUs']]],
    ['no GPU', { resources: { gpu: 0, cpu_only: true } }, [['Resources', 'CPU']]],
    ['node and GPUs', { node_id: idOf('node', 1), gpu_indices: [0, 3] }, [['Node', 'node-1 · GPU 0, 3']]],
    ['no node yet', { status: 'QUEUED', started_at: null }, [['Node', '–']]],
    ['attempts', { attempt: 2, max_attempts: 3 }, [['Attempt', '2 of 3']]],
    ['attempts by hand beyond the maximum', { attempt: 4, max_attempts: 3 }, [['Attempt', '4']]],
    ['priority', { priority: -5 }, [['Priority', '-5']]],
    ['place', { project: 'vision', experiment: 'lr' }, [['Project', 'vision / lr']]],
    ['no place', {}, [['Project', '–']]],
    ['end', { status: 'FAILED', exit_code: 3, finished_at: NOW }, [['Exit code', '3']]],
    ['image', { runner: 'docker', image: 'torch:2.4' }, [['Runner', 'docker · torch:2.4']]],
    ['working directory', { working_dir: '/data/run' }, [['Working directory', '/data/run']]],
    ['source files', { snapshot: 'a1'.repeat(32) }, [['Source files', 'a1a1a1a1a1a1']]],
    ['another type', { type: 'EVALUATE' }, [['Type', 'EVALUATE']]],
    [
      'options of its runner',
      { runner: 'docker', image: 'x', runner_options: { image: 'x', mounts: ['/a:/b'] } },
      [['mounts', '["/a:/b"]']],
    ],
    ['selector', { node_selector: { zone: 'a', gpu: 'h100' } }, [['Node selector', 'zone=a, gpu=h100']]],
    [
      'wait',
      { queued_at: NOW - 10 * MINUTE, started_at: NOW - 4 * MINUTE, finished_at: NOW },
      [
        ['Queue time', '6m 00s'],
        ['Duration', '4m 00s'],
      ],
    ],
    [
      'wait of a job that never started',
      { status: 'CANCELLED', queued_at: NOW - 3 * MINUTE, started_at: null, finished_at: NOW },
      [['Queue time', '3m 00s']],
    ],
  ];
  for (const [what, changes, pairs] of facts) {
    it(`shows its facts: ${what}`, async () => {
      const page = await mount({ job: changes });
      for (const [name, value] of pairs) {
        const fact = page
          .locator('.facts > div')
          .filter({ has: stage.page.getByText(name, { exact: true }) });
        await fact.getByText(value, { exact: true }).first().waitFor();
      }
    });
  }

  const outcomes: [string, Partial<Job>, string | null][] = [
    ['why it waits', { status: 'QUEUED', pending_reason: 'needs 8 GPUs' }, 'Waiting: needs 8 GPUs.'],
    [
      'what it waits for',
      { status: 'QUEUED', pending_reason: 'waiting for 1 free GPU' },
      'Waiting: for 1 free GPU.',
    ],
    ['nothing of a job that runs', { status: 'RUNNING' }, null],
    ['nothing of a job that succeeded', { status: 'SUCCEEDED', finished_at: NOW }, null],
  ];
  for (const [what, changes, text] of outcomes) {
    it(`explains ${what}`, async () => {
      const page = await mount({ job: changes });
      await head().waitFor();
      const outcome = page.locator('.outcome');
      if (text === null) expect(await outcome.count()).to.equal(0);
      else await stage.untilEqual(async () => (await outcome.locator('p').innerText()).trim(), text);
    });
  }

  it('leads from the head to the log', async () => {
    const page = await mount({ job: { status: 'FAILED', failure_message: 'it broke', finished_at: NOW } });
    const log = page.getByRole('region', { name: 'Log' });
    await stage.page.setViewportSize({ width: 1280, height: 600 });
    await page.locator('svc-failure').getByText('it broke').waitFor();
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await stage.untilEqual(() => log.evaluate((pane) => pane.matches(':focus')), true);
    await stage.untilEqual(
      () => log.evaluate((pane) => Math.round(pane.getBoundingClientRect().bottom) <= window.innerHeight),
      true,
    );
    expect(await page.locator('svc-timeline').getByText('it broke').count()).to.equal(0);
  });

  it('shows the command as a shell reads it', async () => {
    const page = await mount({ job: { command: ['python', 'train.py', '--name', 'two words', "it's"] } });
    await page.getByText(`python train.py --name 'two words' 'it'\\''s'`).waitFor();
  });

  describe('its run', () => {
    const owned = run(1, { job_id: ID, step: 5, max_steps: 10 });
    const api: ApiTable = {
      'GET /runs/{run_id}/summary': summary(owned, { 'train/loss': metric({ is_primary: true }) }),
      'GET /runs/{run_id}/metrics': { run_id: owned.id, series: { 'train/loss': series([1, 0.5]) } },
    };

    it('is shown with its progress and the curve of its primary metric', async () => {
      const page = await mount({ job: { run_id: owned.id }, runs: [owned], api });
      expect(await page.getByRole('link', { name: 'Run run-1' }).getAttribute('href')).to.equal(
        `/runs/${owned.id}`,
      );
      await page.getByText('5 / 10').waitFor();
      await page.locator('svc-chart .uplot').waitFor();
      expect(stage.api.requests).to.include(`GET /runs/${owned.id}/metrics?limit=2000&names=train%2Floss`);
      await stage.expectSound();
    });

    it('says that it has logged no metric yet', async () => {
      const page = await mount({ runs: [owned], api: { 'GET /runs/{run_id}/summary': summary(owned) } });
      await page.getByText('No metric logged yet.').waitFor();
    });

    it('is one of several, which are all linked', async () => {
      const runs = [owned, run(2, { job_id: ID, attempt: 1 }), run(3, { job_id: ID, attempt: 2 })];
      const page = await mount({ job: { run_id: owned.id }, runs, api });
      await page.getByRole('heading', { name: 'Other runs' }).waitFor();
      expect(await page.getByRole('link', { name: 'run-3' }).getAttribute('href')).to.equal(
        `/runs/${idOf('run', 3)}`,
      );
    });

    it('has no curve when it never reported a step', async () => {
      const page = await mount({ runs: [run(1, { status: 'SUCCEEDED' })] });
      await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
      expect(await page.locator('svc-run-preview').count()).to.equal(0);
    });
  });

  describe('its attempts', () => {
    const attempts = [
      attempt(3, { status: 'RUNNING', finished_at: null, run_id: idOf('run', 3) }),
      attempt(2, { failure_reason: 'OOM', exit_code: 137 }),
      attempt(1, {
        status: 'LOST',
        failure_reason: 'LOST',
        failure_message: 'node-1 is silent',
        node_id: idOf('node', 9),
      }),
    ];
    const world: JobWorld = { job: { attempt: 3, max_attempts: 3 }, attempts };

    it('are told of by the facts alone when there is one', async () => {
      const page = await mount();
      await head().waitFor();
      expect(await page.locator('svc-attempts-table').count()).to.equal(0);
    });

    it('say how each ended, and why', async () => {
      const page = await mount(world);
      const rows = page.locator('svc-attempts-table .row');
      await stage.untilEqual(() => rows.count(), 3);
      for (const [at, text] of [
        [0, 'Running'],
        [1, 'out of memory'],
        [1, '137'],
        [2, 'node-1 is silent'],
        [2, '000009'],
      ] as const)
        await rows.nth(at).getByText(text).waitFor();
      expect(await rows.nth(0).getByRole('link', { name: 'Run of attempt 3' }).getAttribute('href')).to.equal(
        `/runs/${idOf('run', 3)}`,
      );
      await stage.expectSound();
    });

    it('have a log each: the one below is of the newest until another is chosen', async () => {
      const page = await mount({
        ...world,
        api: { 'GET /jobs/{job_id}/logs': ({ query }) => tail([`log of attempt ${query.get('attempt')}`]) },
      });
      await page.getByText('log of attempt 3').waitFor();
      await page.getByRole('button', { name: 'Log of attempt 1' }).click();
      await page.getByText('log of attempt 1').waitFor();
      expect(await page.locator('.row.shown .attempt').innerText()).to.equal('1');
      await page.getByLabel('Attempt', { exact: true }).selectOption('3');
      await page.getByText('log of attempt 3').waitFor();
    });

    it('that the table links to are not listed as runs again', async () => {
      const page = await mount({ ...world, runs: [run(3, { job_id: ID, attempt: 3, status: 'SUCCEEDED' })] });
      await page.locator('svc-attempts-table').waitFor();
      expect(await page.getByRole('heading', { name: 'Runs', exact: true }).count()).to.equal(0);
    });
  });

  describe('its log', () => {
    it('goes on live while the job runs', async () => {
      const page = await mount();
      await page.getByText('second line').waitFor();
      await stage.push(LOG, [line(2, 'third line')], 'line');
      await page.getByText('third line').waitFor();
    });

    it('is not asked for live once the job is over', async () => {
      const page = await mount({ job: { status: 'SUCCEEDED', finished_at: NOW } });
      await page.getByText('second line').waitFor();
      expect(await stage.page.evaluate('harness.openStreams()')).to.deep.equal(['/api/v1/events/stream']);
    });

    it('says that a job which waits has none yet', async () => {
      const page = await mount({
        job: { status: 'QUEUED', started_at: null },
        api: { 'GET /jobs/{job_id}/logs': tail([]) },
      });
      await page.getByText('The job has not started yet.').waitFor();
    });

    it('is downloaded whole', async () => {
      const page = await mount({ api: { 'GET /jobs/{job_id}/logs/download': new Download('all of it') } });
      const [download] = await Promise.all([
        stage.page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download the whole log' }).click(),
      ]);
      expect(download.suggestedFilename()).to.equal(`${ID}-attempt-1.log`);
      expect(stage.api.requests).to.include(`GET /jobs/${ID}/logs/download?attempt=1`);
    });
  });

  it('shows a change as soon as an event tells of it', async () => {
    const page = await mount();
    await page.getByText('Running').first().waitFor();
    stage.api.change({
      'GET /jobs/{job_id}': job(1, { status: 'FAILED', finished_at: NOW, failure_reason: 'OOM' }),
    });
    await stage.push('/events/stream', [event(1, { job_id: idOf('job', 2) }), event(2, { job_id: ID })]);
    await page.getByText('out of memory').first().waitFor();
  });

  it('keeps what it has when a refresh fails, and says so', async () => {
    const page = await mount();
    await head().waitFor();
    stage.api.change({ 'GET /jobs/{job_id}': OFFLINE });
    await stage.push('/events/stream', [event(1, { job_id: ID })]);
    await page.getByText('This may be out of date.').waitFor();
    expect(await head().innerText()).to.equal('job-1');
  });

  describe('its environment variables', () => {
    const env = { LEARNING_RATE: '0.1', API_KEY: 'secret' };

    it('are covered until they are asked for', async () => {
      const page = await mount({ job: { env } });
      await page.getByText('2 environment variables').click();
      expect(await page.getByText('secret').count()).to.equal(0);
      await page.getByRole('button', { name: 'Show values' }).click();
      await page.getByText('secret').waitFor();
      await stage.expectSound();
      await page.getByRole('button', { name: 'Hide values' }).click();
      expect(await page.getByText('secret').count()).to.equal(0);
    });

    it('cannot be seen with a token that can only read, which is said', async () => {
      const page = await mount({ job: { env: { API_KEY: '***' } }, canWrite: false });
      await page.getByText('1 environment variable').click();
      await page.getByText('A token with write scope is needed to see the values.').waitFor();
      expect(await page.getByRole('button', { name: 'Show values' }).count()).to.equal(0);
    });
  });

  it('offers no action to a token that can only read', async () => {
    const page = await mount({ canWrite: false });
    await page.getByText('second line').waitFor();
    expect(await page.getByRole('button', { name: /Cancel|Retry/ }).count()).to.equal(0);
    expect(await page.getByRole('link', { name: /Resubmit/ }).count()).to.equal(0);
    await page.getByText('Commands of svc').click();
    await page.getByText(`svc logs ${ID}`).waitFor();
    expect(await page.getByText('svc resubmit').count()).to.equal(0);
  });

  it('refreshes after an action', async () => {
    const page = await mount({
      job: { status: 'FAILED', finished_at: NOW },
      api: { 'POST /jobs/{job_id}/retry': job(1, { status: 'QUEUED', attempt: 2 }) },
    });
    stage.api.change({
      'GET /jobs/{job_id}': job(1, { status: 'QUEUED', attempt: 2, pending_reason: 'needs a GPU' }),
    });
    await page.getByRole('button', { name: 'Retry' }).click();
    await stage.page.getByRole('button', { name: 'Retry the job' }).click();
    await page.getByText('needs a GPU').first().waitFor();
    await stage.page.locator('svc-job-actions').getByRole('link', { name: 'Resubmit' }).waitFor();
    // Retry is gone, and the focus is on what there is instead.
    const focused = () =>
      stage.page
        .locator('svc-job-actions')
        .evaluate((element) => element.shadowRoot!.activeElement?.textContent.trim());
    await stage.untilEqual(focused, 'Resubmit');
  });

  it('loads by itself once the server is back', async () => {
    await mount({
      api: { 'GET /jobs/{job_id}': OFFLINE, 'GET /jobs/{job_id}/runs': OFFLINE, 'GET /nodes': OFFLINE },
    });
    await stage.page.getByRole('heading', { name: 'The job could not be loaded' }).waitFor();
    stage.api.change({
      'GET /jobs/{job_id}': job(1, { node_id: idOf('node', 1) }),
      'GET /jobs/{job_id}/runs': { items: [] },
      'GET /nodes': { items: [node(1)] },
    });
    await head().filter({ hasText: 'job-1' }).waitFor();
    await stage.page.getByRole('link', { name: 'node-1' }).waitFor();
  });

  for (const [where, viewport] of Object.entries({ 'a desk': DESK, 'a phone': PHONE })) {
    it(`fits ${where} with very long texts`, async () => {
      const page = await mount({
        job: {
          name: LONG_NAME,
          status: 'FAILED',
          finished_at: NOW,
          failure_message: LONG_NAME.repeat(3),
          command: ['python', LONG_NAME, HOSTILE],
          project: LONG_NAME,
          experiment: LONG_NAME,
          working_dir: `/${LONG_NAME}`,
          env: { [`A${LONG_NAME.replaceAll('-', '_')}`]: LONG_NAME },
          node_selector: { a: LONG_NAME },
          attempt: 2,
        },
        attempts: [
          attempt(2, { failure_message: LONG_NAME }),
          attempt(1, { failure_message: LONG_NAME.repeat(2) }),
        ],
        api: {
          'GET /jobs/{job_id}/logs': tail([LONG_NAME.repeat(20)]),
          'GET /nodes': { items: [node(1, { name: LONG_NAME })] },
        },
        viewport,
      });
      await page.getByText('environment variable').click();
      await page.locator('svc-attempts-table .row').nth(1).waitFor();
      await stage.expectSound(where);
    });
  }
});
