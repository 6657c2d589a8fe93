import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot, signIn } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { ROOT } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const ANSWERS = path.join(ROOT, 'plugins/gpu-amd/test/fixtures/amd-smi-rocm-7.2-mi300x');
/** While the server is away. */
const CONNECTION_LOST = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|Failed to fetch/;

/** The real server, agent and browser; a program that plays the recorded answers of two AMD GPUs stands for these. */
describe('the overview and the page of a node', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  before(async function () {
    const chromium = requireEngine(this, 'chromium');
    workplace = createWorkplace();
    server = await workplace.startServer();
    browser = await launchBrowser(chromium);
    ({ page, complaints } = await openSignedIn('write'));
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  async function openSignedIn(scope: 'read' | 'write'): Promise<{ page: Page; complaints: string[] }> {
    const { token } = await server.client.call(routes.createToken, { body: { name: scope, scope } });
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    page.setDefaultTimeout(20_000);
    const complaints = collectComplaints(page);
    await page.goto(server.url);
    await signIn(page, token);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return { page, complaints };
  }

  async function startAgent(): Promise<void> {
    const bin = path.join(workplace.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'amd-smi'), `#!/bin/sh\nexec cat "${ANSWERS}/$1.json"\n`);
    chmodSync(path.join(bin, 'amd-smi'), 0o755);
    const body = { name: 'agent', scope: 'agent' } as const;
    const { token } = await server.client.call(routes.createToken, { body });
    const env = { SVC_URL: server.url, SVC_TOKEN: token, PATH: `${bin}:${process.env['PATH']}` };
    workplace.start(['agent', '--name', 'gpu-1', '--state-dir', path.join(workplace.dir, 'agent')], env);
  }

  const gpu = (text: RegExp) => page.getByRole('gridcell').getByRole('link', { name: text });

  it('say how to begin where nothing is, and see the first agent and job without a reload', async () => {
    await page.getByRole('heading', { name: 'Nothing has run here yet' }).waitFor();
    await startAgent();
    await page.getByRole('link', { name: '1 node' }).waitFor();
    const command = ['sh', '-c', 'echo "no disk" >&2; exit 3'];
    const { id } = await submit(server.client, { name: 'hopeless', command, resources: { gpu: 1 } });
    await untilJob(server.client, id, ({ status }) => status === 'FAILED');
    const broken = page.getByRole('list', { name: 'What broke' });
    await broken.getByText('Job hopeless failed').waitFor();
    await page.getByRole('heading', { name: '1 failed in the last 24 hours' }).waitFor();
    expect(await broken.getByRole('link', { name: 'Why it failed' }).getAttribute('href')).to.equal(
      `/jobs/${id}?attempt=1`,
    );
    await page.getByRole('button', { name: 'Mark as seen' }).click();
    await page.getByText('Nothing broke since your last visit').waitFor();
    await page.reload();
    await page.getByText('Nothing broke since your last visit').waitFor();
  });

  it('show what runs and what each GPU does, and what waits and why', async () => {
    const { id } = await submit(server.client, {
      name: 'long',
      command: ['sleep', '600'],
      resources: { gpu: 2 },
    });
    await untilJob(server.client, id, ({ status }) => status === 'RUNNING');
    await submit(server.client, { name: 'next', command: ['true'], resources: { gpu: 1 } });
    const running = page.getByRole('list', { name: 'What runs' });
    await running.getByRole('link', { name: 'long' }).waitFor();
    await running.getByRole('link', { name: 'gpu-1' }).waitFor();
    await page
      .getByRole('list', { name: 'What waits' })
      .getByText(/waiting for 1 free GPU/)
      .waitFor();
    await gpu(
      /^gpu-1, GPU 0: Busy, job long, utilization 94 %, memory \S+ GiB of 192 GiB, temperature 71 °C, power 612 W, clock 2087 MHz, memory clock 900 MHz\.$/,
    ).waitFor();
    await gpu(/^gpu-1, GPU 1: Busy, job long/).waitFor();
    await page.getByRole('region', { name: 'Latest events' }).getByText('Job long started').waitFor();
    await screenshot(page, 'overview-real');
  });

  it('lead to the node: its figures, its charts, its processes, its jobs', async () => {
    await page.getByRole('row').getByRole('link', { name: 'gpu-1', exact: true }).click();
    await page.getByRole('heading', { name: 'gpu-1' }).waitFor();
    const slots = page.getByRole('region', { name: 'GPU slots' });
    await slots.getByText('AMD Instinct MI300X · 192 GiB').waitFor();
    await slots.getByRole('link', { name: 'long' }).first().waitFor();
    await page
      .getByRole('figure', { name: /^Chart of GPU temperature\. GPU 0: 71 °C; GPU 1: 38 °C$/ })
      .waitFor();
    await page.getByRole('figure', { name: /^Chart of CPU\. CPU: \d+ %$/ }).waitFor();
    // The recorded answers name a process of that host.
    await page.getByRole('region', { name: 'Processes on GPUs' }).getByText('Foreign: of no job').waitFor();
    await page.getByRole('button', { name: '6 h' }).click();
    await page.waitForURL(/\?window=6h$/);
    await page.reload();
    await page.getByRole('button', { name: '6 h', pressed: true }).waitFor();
    await screenshot(page, 'node-real');
  });

  it('drain it after a question, and it keeps its place', async () => {
    await page.getByRole('button', { name: 'Drain', exact: true }).click();
    await page.getByRole('button', { name: 'Drain the node' }).click();
    await page.locator('.page-head').getByText('Draining').waitFor();
    const [node] = (await server.client.call(routes.listNodes)).items;
    expect(node?.status).to.equal('DRAINING');
    await page.getByRole('button', { name: 'Undrain', exact: true }).click();
    await page.getByRole('button', { name: 'Undrain the node' }).click();
    await page.locator('.page-head').getByText('Online').waitFor();
  });

  it('offer nothing that writes to a token that can only read', async () => {
    const reader = await openSignedIn('read');
    await reader.page.getByRole('list', { name: 'What runs' }).getByRole('link', { name: 'gpu-1' }).click();
    await reader.page.getByRole('heading', { name: 'gpu-1' }).waitFor();
    await reader.page.getByRole('figure', { name: /^Chart of CPU/ }).waitFor();
    expect(await reader.page.getByRole('button', { name: /rain/ }).count()).to.equal(0);
    expect(reader.complaints).to.deep.equal([]);
    await reader.page.context().close();
  });

  it('go on after a restart of the server', async () => {
    expect(complaints, 'before the restart').to.deep.equal([]);
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await gpu(/^gpu-1, GPU 0: Busy/).waitFor();
    server.kill('SIGTERM');
    await server.ended;
    await page.getByText('The connection to the server is lost.').waitFor();
    server = await workplace.startServer({ args: ['--port', new URL(server.url).port] });
    await page.getByText('The connection to the server is lost.').waitFor({ state: 'hidden' });
    const { items } = await server.client.call(routes.listJobs, { query: { status: 'RUNNING' } });
    await server.client.call(routes.cancelJob, { params: { job_id: items[0]!.id } });
    await page.getByText('Nothing runs now.').waitFor();
    await until(() => complaints.every((complaint) => CONNECTION_LOST.test(complaint)));
  });
});
