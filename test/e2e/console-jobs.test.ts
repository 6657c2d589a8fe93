import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot, signIn } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

// All on one stream: lines that come at once on two have no order.
const SCRIPT = `echo "epoch $EPOCHS"; test "$SVC_ATTEMPT" = 1 || { echo "torch.OutOfMemoryError: CUDA out of memory."; exit 1; }; sleep 600`;

describe('jobs in the console', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let id: string;

  before(async function () {
    const chromium = requireEngine(this, 'chromium');
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server, ['--name', 'gpu-node-1']);
    browser = await launchBrowser(chromium);
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    complaints = collectComplaints(page);
    await page.goto(`${server.url}/jobs`);
    await signInWith('token');
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  const signInWith = (file: string) =>
    signIn(page, readFileSync(path.join(workplace.dataDir, file), 'utf8').trim());
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const read = (): Promise<Job> => server.client.call(routes.getJob, { params: { job_id: id } });
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });

  const stopServer = async () => {
    server.kill('SIGTERM');
    await server.ended;
  };
  /** At the same address. */
  const startServerAgain = async () => {
    server = await workplace.startServer({ args: ['--port', new URL(server.url).port] });
  };

  it('are submitted by the form, and seen while they run', async () => {
    await page.getByRole('link', { name: 'Submit a job' }).click();
    await button('Shell line').click();
    await field('Command').fill(SCRIPT);
    await field('Name (optional)').fill('resnet <b>50</b>');
    await field('Project (optional)').fill('vision');
    expect(await button('CPU only').getAttribute('aria-pressed')).to.equal('true');
    await button('Add a variable').click();
    await field('Name of variable 1').fill('EPOCHS');
    await field('Value of EPOCHS').fill('90');
    await screenshot(page, 'new-job');
    await button('Submit the job').click();
    await heading('resnet <b>50</b>').waitFor();
    id = new URL(page.url()).pathname.split('/').at(-1)!;
    await page.getByText('epoch 90', { exact: true }).waitFor();
    await page.locator('svc-timeline li[aria-current="step"]').getByText('Running').waitFor();
    expect(await read()).to.deep.include({
      status: 'RUNNING',
      command: ['sh', '-c', SCRIPT],
      project: 'vision',
      env: { EPOCHS: '90' },
    });
    await screenshot(page, 'job-running');
  });

  it('are refused by the server beside the field that is wrong', async () => {
    await page.goto(`${server.url}/jobs/new`);
    await field('Command').fill('true');
    await field('Working directory (optional)').fill('data');
    await field('Priority').fill('5000');
    await button('Submit the job').click();
    await page.locator('#priority-error').waitFor();
    await page.locator('#working_dir-error').getByText('absolute').waitFor();
    expect(await field('Command').inputValue()).to.equal('true');
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('422')));
    await field('Command').fill('');
    await field('Working directory (optional)').fill('');
    await field('Priority').fill('0');
  });

  it('are cancelled after a question, and retried after another, and the focus stays', async () => {
    await page.goto(`${server.url}/jobs/${id}`);
    await page.getByRole('button', { name: 'Cancel resnet' }).click();
    await button('Cancel the job').click();
    await untilJob(server.client, id, ({ status }) => status === 'CANCELLED');
    const retry = page.getByRole('button', { name: 'Retry resnet' });
    await retry.waitFor();
    await page.locator('svc-timeline').getByText('Cancelled').waitFor();
    await retry.press('Enter');
    await page.getByText('queued again as attempt 2').waitFor();
    await button('Retry the job').press('Enter');
    await untilJob(server.client, id, ({ attempt, status }) => attempt === 2 && status === 'FAILED');
    const isFocused = () =>
      page.locator('svc-job-actions').evaluate((actions) => actions.shadowRoot!.activeElement !== null);
    await until(isFocused);
  });

  it('that failed are explained, and the evidence leads to its line of the log', async () => {
    const why = page.locator('svc-failure');
    await why.getByRole('link', { name: 'Log line 2', exact: true }).first().click();
    await until(() => Promise.resolve(new URL(page.url()).search === '?attempt=2&line=2'));
    await page.locator('svc-log-view .row.current').getByText('CUDA out of memory').waitFor();
    await page.getByRole('table', { name: 'Attempts' }).waitFor();
    await screenshot(page, 'job-failed');
  });

  it('are resubmitted with changes', async () => {
    await page.getByRole('link', { name: /^Resubmit with changes: resnet/ }).click();
    expect(await field('Command').inputValue()).to.equal(SCRIPT);
    expect(await field('Project (optional)').inputValue()).to.equal('vision');
    await field('Value of EPOCHS').fill('91');
    await field('Name (optional)').fill('resnet-91');
    await button('Submit the job').click();
    await heading('resnet-91').waitFor();
    await page.getByText('epoch 91', { exact: true }).waitFor();
  });

  it('are filtered by what the address says', async () => {
    await page.getByRole('link', { name: 'Jobs' }).first().click();
    await field('projects').selectOption('vision');
    await page.getByRole('button', { name: /^Failed/ }).click();
    const names = () => page.locator('a.name').allInnerTexts();
    await until(async () => (await names()).join() === 'resnet <b>50</b>');
    await page.reload();
    await until(async () => (await names()).join() === 'resnet <b>50</b>');
    await field('Find jobs by name or id').fill('NET-91');
    await page.getByText('No jobs match the filter').waitFor();
    await page.getByRole('button', { name: /^All/ }).click();
    await until(async () => (await names()).join() === 'resnet-91');
  });

  it('are loaded by themselves when the server is back', async () => {
    await page.goto(`${server.url}/jobs`);
    await page.getByRole('link', { name: 'resnet-91', exact: true }).waitFor();
    await stopServer();
    await page.getByRole('link', { name: 'resnet-91', exact: true }).click();
    await page.getByRole('heading', { name: /could not be loaded/ }).waitFor();
    await startServerAgain();
    await heading('resnet-91').waitFor({ timeout: 30_000 });
  });

  it('are reached again from a page whose code could not be loaded while the server was away', async () => {
    await stopServer();
    await page.getByRole('link', { name: 'Nodes' }).first().click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await startServerAgain();
    await heading('Nodes').waitFor({ timeout: 30_000 });
    // The browser tells of each request that found no server.
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !/ERR_|Failed to/.test(text)));
  });

  it('offer nothing to a token that can only read', async () => {
    const { token } = await server.client.call(routes.createToken, { body: { name: 'r', scope: 'read' } });
    await submit(server.client, {
      command: ['true'],
      name: 'seen',
      env: { KEY: 'secret' },
      resources: { gpu: 9 },
    });
    await page.evaluate(`sessionStorage.setItem('svc.token', ${JSON.stringify(token)})`);
    await page.goto(`${server.url}/jobs`);
    await page.getByRole('link', { name: 'seen', exact: true }).waitFor();
    for (const name of ['Submit a job', 'Resubmit with changes'])
      expect(await page.getByRole('link', { name }).count()).to.equal(0);
    await page.getByRole('link', { name: 'seen', exact: true }).click();
    await page.locator('.outcome').getByText('Waiting:').waitFor();
    await page.getByText('1 environment variable').click();
    await page.getByText('A token with write scope is needed').waitFor();
    expect(await page.getByRole('button', { name: /Cancel|Retry/ }).count()).to.equal(0);
    await page.goto(`${server.url}/jobs/new`);
    await page.getByRole('heading', { name: 'This token can only read' }).waitFor();
    expect(complaints).to.deep.equal([]);
  });
});
