import type { Job, JobAttempt, Run } from '@svc/contract';
import { expect } from 'chai';
import { Download, OFFLINE, Refusal, type ApiTable } from './harness/fake-api.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  attempt,
  event,
  failure,
  idOf,
  job,
  line,
  metric,
  node,
  run,
  series,
  summary,
} from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const ID = idOf('job', 1);
const LOG = `/jobs/${ID}/logs/stream`;
const tail = (texts: readonly string[], dropped = 0) => ({
  job_id: ID,
  attempt: 1,
  lines: texts.map((text, seq) => line(seq, text)),
  dropped,
});

describe('the page of a job', () => {
  const stage = useStage();

  interface World {
    readonly job?: Partial<Job>;
    readonly runs?: readonly Run[];
    readonly attempts?: readonly JobAttempt[];
    readonly api?: ApiTable;
    readonly canWrite?: boolean;
    readonly viewport?: typeof DESK;
    readonly theme?: 'light' | 'dark';
    /** What the address says behind the path. */
    readonly query?: string;
  }
  const mount = ({
    job: changes = {},
    runs = [],
    attempts = [attempt(1)],
    api = {},
    query = '',
    ...more
  }: World = {}) =>
    stage.mount('svc-job-page', {
      properties: { jobId: ID, query },
      address: `/jobs/${ID}?${query}`,
      api: {
        'GET /jobs/{job_id}': job(1, changes),
        'GET /jobs/{job_id}/runs': { items: runs },
        'GET /jobs/{job_id}/attempts': { items: attempts },
        'GET /jobs/{job_id}/logs': tail(['first line', 'second line']),
        'GET /jobs/{job_id}/failure': failure(),
        'GET /nodes': { items: [node(1)] },
        ...api,
      },
      ...more,
    });
  const head = () => stage.page.getByRole('heading', { level: 1 });

  it('holds its place until it is there', async () => {
    const page = await mount({ api: { 'GET /jobs/{job_id}': () => new Promise(() => {}) } });
    await page.locator('svc-skeleton').waitFor({ state: 'attached' });
    expect(await head().count()).to.equal(0);
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
    ['why it waits', { status: 'QUEUED', pending_reason: 'needs 8 GPUs' }, 'Waiting: needs 8 GPUs'],
    [
      'why it failed',
      { status: 'FAILED', failure_reason: 'EXIT_CODE', exit_code: 2 },
      'Failed: the command ended with an error · exit code 2',
    ],
    [
      'why it is lost',
      { status: 'LOST', failure_reason: 'LOST', failure_message: 'node-1 is silent' },
      'Lost: node-1 is silent',
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
    const world: World = { job: { attempt: 3, max_attempts: 3 }, attempts };

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

  describe('its timeline', () => {
    const HOUR = 60 * MINUTE;

    it('says since when it was in each state, for how long, where and why', async () => {
      const page = await mount({
        job: {
          status: 'FAILED',
          queued_at: NOW - 3 * HOUR,
          dispatched_at: NOW - 2 * HOUR,
          started_at: NOW - 2 * HOUR + 5000,
          finished_at: NOW - HOUR,
          node_id: idOf('node', 1),
          gpu_indices: [0, 3],
          failure_message: 'ran out of memory',
        },
        api: {
          'GET /events': {
            items: [
              event(1, {
                type: 'JOB_QUEUED',
                job_id: ID,
                message: '2 GPUs, priority 0',
                data: { attempt: 1 },
              }),
            ],
          },
        },
      });
      await page.locator('svc-timeline').getByText('2 GPUs, priority 0').waitFor();
      await page.locator('svc-timeline').getByText('node-1').first().waitFor();
      const shown: [string, string[]][] = [
        ['Queued', ['1h 00m', '2 GPUs, priority 0']],
        ['Assigned', ['5s', 'node-1, GPU 0, 3']],
        ['Running', ['59m 55s', 'node-1, GPU 0, 3']],
        ['Failed', ['ran out of memory']],
      ];
      for (const [at, [title, texts]] of shown.entries()) {
        const step = page.locator('svc-timeline li').nth(at);
        for (const text of [title, ...texts]) await step.getByText(text, { exact: true }).waitFor();
      }
      expect(stage.api.requests).to.include(`GET /events?job_id=${ID}&type=JOB_QUEUED&limit=1000`);
    });

    it('goes on while the job runs', async () => {
      const page = await mount({ job: { dispatched_at: NOW - MINUTE, started_at: NOW - MINUTE } });
      const now = page.locator('svc-timeline li[aria-current="step"]');
      await now.getByText('Running').waitFor();
      await now.getByText(/^1m 0/).waitFor();
    });

    it('is that of the attempt that is shown', async () => {
      const page = await mount({
        job: { attempt: 2, max_attempts: 2 },
        attempts: [attempt(2, { status: 'RUNNING' }), attempt(1, { failure_message: 'it broke' })],
        query: 'attempt=1',
      });
      await page.getByRole('heading', { name: 'Timeline of attempt 1' }).waitFor();
      await page.locator('svc-timeline').getByText('it broke').waitFor();
    });
  });

  describe('that waits', () => {
    const waits = {
      status: 'QUEUED',
      started_at: null,
      pending_reason: 'no node has registered yet',
    } as const;

    it('says what would help, with the command to copy', async () => {
      const page = await mount({ job: waits, api: { 'GET /nodes': { items: [] } } });
      await page.locator('.outcome').getByText('svc agent --url http://localhost').waitFor();
      await stage.expectSound();
    });

    it('leads to the form for another one, and not for a token that can only read', async () => {
      const many = { ...waits, resources: { gpu: 8, cpu_only: false } };
      const page = await mount({ job: many });
      const link = page.locator('.outcome').getByRole('link', { name: 'Resubmit with changes' });
      expect(await link.getAttribute('href')).to.equal(`/jobs/new?from=${ID}`);
      await mount({ job: many, canWrite: false });
      await page.locator('.outcome').getByText('ask for at most 2').waitFor();
      expect(await link.count()).to.equal(0);
    });
  });

  describe('that failed', () => {
    const explained = failure({
      summary: 'The GPU ran out of memory.',
      rule: 'gpu-oom',
      confidence: 0.97,
      run_id: idOf('run', 1),
      evidence: [
        { attempt: 1, seq: 299, text: `CUDA out of memory ${HOSTILE}` },
        { metric: 'train/loss', step: 120, value: 'NaN' },
        { field: 'exit_code', value: '1' },
        { event_id: idOf('evt', 1) },
      ],
      suggested_fixes: ['Use a smaller batch.'],
      causes: [
        {
          rule: 'gpu-oom',
          severity: 'critical',
          title: 'GPU out of memory',
          message: '',
          confidence: 0.97,
          evidence: [],
          fixes: [],
        },
        {
          rule: 'other',
          severity: 'warning',
          title: 'Host out of memory',
          message: '',
          confidence: 0.4,
          evidence: [],
          fixes: [],
        },
      ],
      traceback: {
        error: 'RuntimeError: CUDA',
        frame: { file: 'train.py', line: 7, function: 'step', code: 'loss()' },
      },
      next_actions: [
        {
          tool: 'submit_job',
          args: { command: ['python3', 'a b.py'], gpus: 1 },
          reason: 'Submit with a smaller batch.',
        },
        { tool: 'tail_logs', args: { job_id: ID, attempt: 1 }, reason: 'Read the log.' },
      ],
    });
    const lines = Array.from({ length: 400 }, (_, seq) => `line number ${seq + 1}`);
    const world: World = {
      job: { status: 'FAILED', finished_at: NOW, exit_code: 1 },
      api: { 'GET /jobs/{job_id}/failure': explained, 'GET /jobs/{job_id}/logs': tail(lines) },
    };
    const panel = () => stage.page.locator('svc-failure');

    it('is explained: the cause, its evidence, what to change and what to do next', async () => {
      await mount(world);
      for (const text of [
        'The GPU ran out of memory.',
        '97 % sure',
        'Use a smaller batch.',
        'Host out of memory (40 %)',
        'train.py:7, in step',
        'RuntimeError: CUDA',
        `svc submit --gpu 1 --no-working-dir -- python3 'a b.py'`,
        `svc logs ${ID} --attempt 1`,
        HOSTILE,
      ])
        await panel().getByText(text).waitFor();
      expect(await panel().getByText('GPU out of memory', { exact: true }).count()).to.equal(0);
      expect(
        await panel().getByRole('link', { name: 'train/loss = NaN at step 120' }).getAttribute('href'),
      ).to.equal(`/runs/${idOf('run', 1)}`);
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      for (const theme of ['light', 'dark'] as const) {
        await mount({ ...world, theme });
        await panel().getByText('97 % sure').waitFor();
        await stage.expectSound(theme);
      }
    });

    it('shows a line of the evidence in the log, and the address leads there', async () => {
      const page = await mount(world);
      const link = panel().getByRole('link', { name: 'Log line 300' });
      expect(await link.getAttribute('href')).to.equal(`/jobs/${ID}?attempt=1&line=300`);
      await mount({ ...world, query: 'attempt=1&line=300' });
      const linked = page.locator('svc-log-view .row.current');
      await linked.getByText('line number 300', { exact: true }).waitFor();
      const isInWindow = () =>
        linked.evaluate((row) => {
          const { top, bottom } = row.getBoundingClientRect();
          return top >= 0 && bottom <= window.innerHeight;
        });
      await stage.untilEqual(isInWindow, true);
    });

    it('says that a line of the address is not among those that are shown', async () => {
      const page = await mount({ ...world, query: 'line=9000' });
      await page.getByText('Line 9000 is not among the lines shown.').waitFor();
    });

    it('is explained without what a token that can only read cannot do', async () => {
      await mount({ ...world, canWrite: false });
      await panel().getByText(`svc logs ${ID} --attempt 1`).waitFor();
      expect(await panel().getByText('svc submit').count()).to.equal(0);
    });

    it('shows the last errors where no rule explains it, and says when the reason could not be loaded', async () => {
      await mount({
        ...world,
        api: {
          ...world.api,
          'GET /jobs/{job_id}/failure': failure({ last_errors: [line(41, 'Segmentation fault')] }),
        },
      });
      await panel().getByText('No rule explains it.').waitFor();
      await panel().getByRole('link', { name: 'Log line 42' }).waitFor();
      await mount({ ...world, api: { ...world.api, 'GET /jobs/{job_id}/failure': OFFLINE } });
      await panel().getByText('This may be out of date.').waitFor();
      stage.api.change({ 'GET /jobs/{job_id}/failure': explained });
      await panel().getByText('The GPU ran out of memory.').waitFor();
    });

    it('in an earlier attempt is explained when that attempt is shown', async () => {
      const page = await mount({
        job: { attempt: 2, max_attempts: 2 },
        attempts: [attempt(2, { status: 'RUNNING', finished_at: null }), attempt(1)],
        api: {
          'GET /jobs/{job_id}/failure': ({ query }) =>
            failure({ summary: `attempt ${query.get('attempt')}` }),
        },
      });
      await page.locator('svc-attempts-table .row').nth(1).waitFor();
      expect(await panel().count()).to.equal(0);
      await page.getByRole('button', { name: 'Log of attempt 1' }).click();
      await panel().getByText('attempt 1', { exact: true }).waitFor();
      expect(new URL(stage.page.url()).search).to.equal('?attempt=1');
    });
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
