import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot, signIn } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const LINES = 200_000;
/** The first attempt prints much and fails; the second prints a line whenever the file grows, and goes on. */
const JOB = `
const { existsSync } = require('node:fs');
if (process.env.SVC_ATTEMPT === '1') {
  let text = '\\u001b[32mthe first line\\u001b[0m <img src=x onerror="window.hacked = true">\\n';
  for (let at = 0; at < ${LINES}; at += 1)
    text += at === 100000 ? 'RuntimeError: in the middle\\n' : 'step ' + at + '\\n';
  process.stdout.write(text + 'the last line\\n', () => process.exit(1));
} else {
  let at = 0;
  const timer = setInterval(() => {
    console.log('second attempt, line ' + at);
    at += 1;
    if (existsSync(process.env.STOP)) clearInterval(timer);
  }, 20);
}
`;

describe('the log of a job that prints much', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let job: Job;
  let complaints: string[];

  before(async function () {
    const chromium = requireEngine(this, 'chromium');
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server);
    const env = { STOP: path.join(workplace.dir, 'stop') };
    const command = [process.execPath, '-e', JOB];
    job = await submit(server.client, { command, env, resources: { cpu_only: true } });
    await untilJob(server.client, job.id, ({ status }) => status === 'FAILED');
    browser = await launchBrowser(chromium);
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    complaints = collectComplaints(page);
    await page.goto(server.url);
    await signIn(page, readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim());
    await page.getByRole('link', { name: 'Jobs' }).first().waitFor();
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  const row = (text: string) => page.locator('svc-log-view .row .text').getByText(text, { exact: true });
  const current = () => page.locator('svc-log-view .row.current');

  it('shows the error, its end, and its start without a download', async () => {
    await page.goto(`${server.url}/jobs/${job.id}`);
    await row('RuntimeError: in the middle').waitFor();
    await page.locator('svc-log-view').getByRole('log').press('End');
    await row('the last line').waitFor();
    await page.getByRole('button', { name: 'Go to the start of the log' }).click();
    await row('the first line').waitFor();
    await row('step 0').waitFor();
    expect(await page.evaluate('window.hacked')).to.equal(undefined);
    await screenshot(page, 'log-start');
  });

  it('is searched from its first line on, and leads to its errors', async () => {
    await page.getByRole('button', { name: 'Jump to the newest line' }).click();
    await page.getByLabel('Search the log').fill('the FIRST line');
    await current().getByText('the first line').waitFor();
    await page.getByLabel('Search the log').fill('');
    await page.getByRole('button', { name: 'Next error' }).click();
    await current().getByText('RuntimeError: in the middle').waitFor();
  });

  it('is opened at the line of a link', async () => {
    await page.goto(`${server.url}/jobs/${job.id}?attempt=1&line=150002`);
    await current().getByText('step 150000').waitFor();
    const isInWindow = await current().evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= 800;
    });
    expect(isInWindow).to.equal(true);
    await page.getByRole('link', { name: 'Link to line 150005' }).click();
    await page.waitForURL(/line=150005/);
    await current().getByText('step 150003').waitFor();
  });

  it('is followed in its next attempt', async () => {
    await server.client.call(routes.retryJob, { params: { job_id: job.id } });
    await untilJob(server.client, job.id, ({ status, attempt }) => attempt === 2 && status === 'RUNNING');
    await page.goto(`${server.url}/jobs/${job.id}`);
    await row('second attempt, line 20').waitFor();
    const last = async () =>
      Number(/\d+$/.exec(await page.locator('svc-log-view .row .text').last().innerText())?.[0]);
    const before = await last();
    await until(async () => (await last()) > before + 20, { timeoutMs: 20_000 });
    await page.getByLabel('Attempt', { exact: true }).selectOption('1');
    await row('RuntimeError: in the middle').waitFor();
    expect(complaints).to.deep.equal([]);
  });
});
