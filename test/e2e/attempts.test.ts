import { routes, type Job } from '@svc/contract';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot, signIn } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const OOM =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.19 GiB is free.';
const SCRIPT = `echo "this is attempt $SVC_ATTEMPT"
case $SVC_ATTEMPT in
  1) echo '${OOM}' >&2; exit 1 ;;
  2) exit 3 ;;
  3) kill -9 $$ ;;
  *) sleep 600 ;;
esac`;

describe('the attempts of a job', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  let job: Job;

  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server, ['--name', 'gpu-node-1']);
    const command = ['sh', '-c', SCRIPT];
    job = await submit(server.client, { name: 'resnet-50', command, resources: { cpu_only: true } });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await untilJob(server.client, job.id, (now) => now.attempt === attempt && now.status === 'FAILED');
      await server.client.call(routes.retryJob, { params: { job_id: job.id } });
    }
    job = await untilJob(server.client, job.id, ({ status }) => status === 'RUNNING');
  });
  after(() => workplace?.close());

  it('are told by the command line, each with how it ended', async () => {
    const list = await workplace.svc(['attempts', job.id]);
    expect(list.status, list.stderr).to.equal(0);
    const [head, ...rows] = list.stdout.trimEnd().split('\n');
    expect(head).to.match(/^ATTEMPT +STATUS +EXIT +STARTED +RAN FOR +NODE +RUN +WHY$/);
    expect(rows.map((row) => row.trim().split(/ {2,}/).slice(0, 3).join(' '))).to.deep.equal([
      '4 RUNNING -',
      '3 FAILED -9',
      '2 FAILED 3',
      '1 FAILED 1',
    ]);
    // What the exit code says already is not said again.
    expect(rows[2]).to.match(/ run_\w+$/);
    expect(rows[1]).to.match(/ run_\w+ +was killed by SIGKILL$/);
    expect(rows[3]).to.match(/ run_\w+ +ran out of memory: torch\.OutOfMemoryError/);
    expect((await workplace.svc(['job', job.id])).stdout).to.include(rows.slice(1).join('\n'));

    const json = JSON.parse((await workplace.svc(['attempts', job.id, '--json'])).stdout);
    expect(json.items.map(({ failure_reason }: { failure_reason: string }) => failure_reason)).to.deep.equal([
      null,
      'signal',
      'EXIT_CODE',
      'OOM',
    ]);
    expect(JSON.parse((await workplace.svc(['job', job.id, '--json'])).stdout).attempt).to.equal(4);
    const unknown = await workplace.svc(['attempts', 'job_nonsense']);
    expect(unknown.status).to.equal(1);
  });

  describe('on the page of the job', () => {
    let browser: Browser;
    let page: Page;
    let complaints: string[];

    before(async function () {
      const chromium = requireEngine(this, 'chromium');
      browser = await launchBrowser(chromium);
      page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
      complaints = collectComplaints(page);
      await page.goto(server.url);
      const token = readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim();
      await signIn(page, token);
      await page.getByRole('link', { name: 'resnet-50' }).first().click();
    });
    after(() => browser?.close());

    it('stand with why each ended, in words, and with its run', async () => {
      const table = page.getByRole('table', { name: 'Attempts' });
      await table.waitFor();
      expect(await table.getByRole('row').count()).to.equal(5);
      const first = table.getByRole('row').last();
      await first.getByText('gpu-node-1').waitFor();
      const text = (await first.innerText()).replace(/\s+/g, ' ');
      await first.getByText('Failed').waitFor();
      expect(text).to.match(/^1 1 .*gpu-node-1 ran out of memory: torch/);
      const { items } = await server.client.call(routes.listJobAttempts, { params: { job_id: job.id } });
      const link = await first.getByRole('link', { name: 'Run of attempt 1' }).getAttribute('href');
      expect(link).to.equal(`/runs/${items.at(-1)?.run_id}`);
    });

    it('show their logs', async () => {
      await page.getByText('this is attempt 4').waitFor();
      await page.getByRole('button', { name: 'Log of attempt 1' }).click();
      await page.getByText('this is attempt 1').waitFor();
      await page.getByRole('button', { name: 'Log of attempt 4' }).waitFor();
      expect(await page.getByRole('button', { name: 'Log of attempt 1' }).count()).to.equal(0);
    });

    it('fit a desk, in light and dark, and a phone', async () => {
      await screenshot(page, 'attempts-light');
      await page.emulateMedia({ colorScheme: 'dark' });
      await screenshot(page, 'attempts-dark');
      await page.setViewportSize({ width: 390, height: 844 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.getByRole('heading', { name: 'Attempts' }).scrollIntoViewIfNeeded();
        await screenshot(page, `attempts-phone-${colorScheme}`);
      }
      const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect(await page.evaluate(isTooWide)).to.equal(false);
      expect(complaints).to.deep.equal([]);
    });
  });
});
