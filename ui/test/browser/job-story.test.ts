import type { Job } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE } from './harness/fake-api.js';
import { ID, mountJobPage, tail, type JobWorld } from './harness/job-world.js';
import { HOSTILE, MINUTE, NOW, attempt, event, failure, idOf, line } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe('what the page of a job tells of it:', () => {
  const stage = useStage();
  const mount = (world?: JobWorld) => mountJobPage(stage, world);

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
        ['Failed', []],
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
      await page.locator('svc-failure').getByText('it broke').waitFor();
      expect(await page.locator('svc-timeline').getByText('it broke').count()).to.equal(0);
    });
  });

  describe('a job that waits', () => {
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

  describe('a job that failed', () => {
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
    const world: JobWorld = {
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

    it('says its message once, where it is explained', async () => {
      const message = 'exit code 1: RuntimeError: CUDA';
      const page = await mount({ ...world, job: { ...world.job, failure_message: message } });
      await panel().getByText(message).waitFor();
      await page.locator('svc-timeline').getByText('Failed').waitFor();
      expect(await page.getByText('RuntimeError: CUDA').count()).to.equal(1);
      expect(await page.locator('.outcome').count()).to.equal(0);
    });

    it('says its message also when the explanation cannot be loaded', async () => {
      await mount({
        job: { ...world.job, failure_message: 'it broke' },
        api: { ...world.api, 'GET /jobs/{job_id}/failure': OFFLINE },
      });
      await panel().getByText('it broke').waitFor();
    });

    it('opens its log at the line that the explanation cites, and leaves the page where it is', async () => {
      const page = await mount(world);
      await page.locator('svc-log-view .row.current').getByText('line number 300', { exact: true }).waitFor();
      expect(await stage.page.evaluate(() => window.scrollY)).to.equal(0);
      await page.getByRole('button', { name: 'Jump to the newest line' }).click();
      await page.locator('svc-log-view .row').getByText('line number 400', { exact: true }).waitFor();
    });

    it('opens its log at the first error that is known where no line is cited, else at its end', async () => {
      const opened = async (last_errors: object[]) => {
        const page = await mount({
          ...world,
          api: { ...world.api, 'GET /jobs/{job_id}/failure': { ...explained, evidence: [], last_errors } },
        });
        return page.locator('svc-log-view');
      };
      const log = await opened([line(99, 'line number 100'), line(199, 'line number 200')]);
      await log.locator('.row.current').getByText('line number 100', { exact: true }).waitFor();
      await (await opened([])).locator('.row').getByText('line number 400', { exact: true }).waitFor();
    });

    const ends: [string, Partial<Job>, string][] = [
      [
        'failed',
        { status: 'FAILED', failure_reason: 'EXIT_CODE', exit_code: 2 },
        'the command ended with an error · exit code 2',
      ],
      [
        'is lost',
        { status: 'LOST', failure_reason: 'LOST', failure_message: 'node-1 is silent' },
        'node-1 is silent',
      ],
    ];
    for (const [what, changes, text] of ends) {
      it(`says how it ended when it ${what}, in the explanation alone`, async () => {
        const page = await mount({ job: changes });
        await page.locator('svc-failure').getByText(text).waitFor();
        expect(await page.locator('.outcome').count()).to.equal(0);
      });
    }

    it('gives way to the log where the address asks for that', async () => {
      const page = await mount({ ...world, query: 'attempt=1&view=log' });
      await page.locator('svc-log-view .row').first().waitFor();
      const bottom = () =>
        page.locator('.panel.log').evaluate((log) => log.getBoundingClientRect().bottom - window.innerHeight);
      await stage.untilEqual(async () => Math.abs(await bottom()) < 10, true);
      expect(await stage.page.evaluate(() => window.scrollY)).to.be.greaterThan(0);
    });

    it('says that the log has no line with the number of the address', async () => {
      const page = await mount({ ...world, query: 'line=9000' });
      await page.getByText('There is no line 9,000. The log has').waitFor();
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
          'GET /jobs/{job_id}/failure': failure({
            last_errors: [line(41, '\u001b[31mSegmentation\u0007 fault\u001b[0m')],
          }),
        },
      });
      await panel().getByText('No rule explains it.').waitFor();
      await panel().getByRole('link', { name: 'Log line 42' }).waitFor();
      await panel().getByText('Segmentation fault', { exact: true }).waitFor();
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
});
