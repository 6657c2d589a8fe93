import { isTerminal, routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type Client } from '@svc/client';
import { loadToken } from '@svc/client/local-server';
import { collectComplaints, launchBrowser, screenshot } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { argumentsOf, findMarked } from '../support/processes.js';
import type { Program } from '../support/program.js';
import { createWorkplace, submit, untilJob, untilPrinted, type Workplace } from '../support/workplace.js';

const LINK = /(http:\S+\/#signin=\S+)\n/;
const PATIENCE_MS = 60_000;

describe('the main job: svc up --example', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let up: Program;
  let link: string;
  let client: Client;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let job: Job;

  before(async function () {
    requireEngine(this, 'python');
    const chromium = requireEngine(this, 'chromium');
    workplace = createWorkplace();
    up = workplace.start(['up', '--example', '--port', '0']);
    link = await untilPrinted(up, LINK);
    const url = new URL(link).origin;
    client = createClient({ url, token: loadToken(workplace.dataDir) });
    browser = await launchBrowser(chromium);
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(PATIENCE_MS);
    complaints = collectComplaints(page);
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  it('prints the console’s address with a one-time sign-in link as its last line', () => {
    expect(up.stdout.trimEnd().split('\n').at(-1)).to.equal(link);
    expect(up.stderr).to.equal('');
  });

  it('the link opens the console, signed in, with the example among its jobs', async () => {
    await page.goto(link);
    await page.getByRole('link', { name: 'train-digits' }).first().waitFor();
    expect(page.url(), 'the code is gone from the address').to.not.contain('signin');
    await screenshot(page, 'jobs');
    [job] = (await client.call(routes.listJobs)).items as [Job];
    expect(job).to.deep.include({ name: 'train-digits', resources: { gpu: 0, cpu_only: true } });
  });

  it('the job page shows its state and its live log', async () => {
    await page.getByRole('link', { name: 'train-digits' }).first().click();
    await page.getByRole('heading', { name: 'train-digits' }).waitFor();
    await page.getByText('RUNNING').or(page.getByText('Running')).first().waitFor();
    await page
      .getByText(/val.?loss/i)
      .first()
      .waitFor();
    await screenshot(page, 'job');
  });

  it('the run page shows its curve, and the curve grows', async () => {
    job = await untilJob(client, job.id, ({ status }) => status === 'RUNNING');
    await page.locator(`a[href="/runs/${job.run_id}"]`).first().click();
    const chart = page.getByRole('figure', { name: /loss.*train\/loss: \S+ at step \d+/ }).first();
    await chart.waitFor();
    const first = await readStep(chart);
    await until(async () => (await readStep(chart)) >= first + 10, { timeoutMs: PATIENCE_MS });
    await until(async () => (await countInk(chart)) > 500, { timeoutMs: PATIENCE_MS });
    await screenshot(page, 'run');
    const { step } = await client.call(routes.getRun, { params: { run_id: job.run_id ?? '' } });
    expect(await readStep(chart)).to.be.closeTo(step ?? 0, 30);
  });

  it('the nodes page shows the local agent', async () => {
    const [node] = (await client.call(routes.listNodes)).items;
    await page.getByRole('link', { name: 'Nodes' }).first().click();
    await page
      .getByText(node?.name ?? 'no node')
      .first()
      .waitFor();
    await screenshot(page, 'nodes');
  });

  it('nothing went wrong on any page', () => {
    expect(complaints).to.deep.equal([]);
  });

  it('the link works once: another browser is asked for a token', async () => {
    const other = await browser.newContext();
    const second = await other.newPage();
    await second.goto(link);
    await second.getByLabel('Token', { exact: true }).waitFor();
    await screenshot(second, 'sign-in');
    await other.close();
  });

  it('the local agent holds a token of its own, of agent scope', async () => {
    const { items } = await client.call(routes.listTokens);
    const agent = items.find(({ name }) => name === 'agent of svc up');
    expect(agent?.scope).to.equal('agent');
    expect(agent?.last_used_at).to.not.equal(null);
  });

  it('the end leaves a job running and says so; the next svc up finds it and can cancel it', async () => {
    await client.call(routes.cancelJob, { params: { job_id: job.id } }).catch(() => undefined);
    await untilJob(client, job.id, ({ status }) => isTerminal(status));
    const waits = await submit(client, { command: ['sleep', '1000'], resources: { cpu_only: true } });
    await untilJob(client, waits.id, ({ status }) => status === 'RUNNING');
    up.kill('SIGTERM');
    const ended = await up.ended;
    expect(ended.status).to.equal(0);
    expect(ended.stderr).to.match(/^1 job continues to run; the next svc up finds it again\n$/);
    const pids = findMarked('SVC_JOB_ID', waits.id);
    expect(pids).to.have.length(1);

    up = workplace.start(['up', '--example', '--port', '0']);
    const url = new URL(await untilPrinted(up, LINK)).origin;
    client = createClient({ url, token: loadToken(workplace.dataDir) });
    expect(up.stdout, 'the example is not submitted again').to.match(/^example +train-digits has ended/m);
    expect((await client.call(routes.listJobs)).items).to.have.length(2);
    await untilJob(client, waits.id, ({ status }) => status === 'RUNNING');
    expect(findMarked('SVC_JOB_ID', waits.id)).to.deep.equal(pids);
    await client.call(routes.cancelJob, { params: { job_id: waits.id } });
    const cancelled = await untilJob(client, waits.id, ({ status }) => status === 'CANCELLED');
    expect(cancelled).to.deep.include({ attempt: 1, exit_code: -15 });
    expect(findMarked('SVC_JOB_ID', waits.id)).to.deep.equal([]);
  });
});

describe('svc up, when something is wrong', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  beforeEach(() => (workplace = createWorkplace()));
  afterEach(() => workplace.close());

  it('says so when a part ends, and ends the other', async () => {
    const up = workplace.start(['up', '--port', '0']);
    const url = new URL(await untilPrinted(up, LINK)).origin;
    const [agent] = findMarked('HOME', workplace.dir).filter((pid) => argumentsOf(pid).includes('agent'));
    process.kill(agent ?? 0, 'SIGKILL');
    const { status, stderr } = await up.ended;
    expect(status).to.equal(1);
    expect(stderr).to.match(/^svc: the agent ended by SIGKILL; svc up stops the rest and exits$/m);
    const isReachable = await fetch(`${url}/api/v1/health`).then(
      () => true,
      () => false,
    );
    expect(isReachable).to.equal(false);
  });

  it('server and agent end when svc up itself is killed', async () => {
    const up = workplace.start(['up', '--port', '0']);
    await untilPrinted(up, LINK);
    up.kill('SIGKILL');
    await until(() => findMarked('HOME', workplace.dir).length === 0, { timeoutMs: 60_000 });
  });

  it('a second svc up on the same data directory is refused in one sentence', async () => {
    await untilPrinted(workplace.start(['up', '--port', '0']), LINK);
    const { status, stderr } = await workplace.svc(['up', '--port', '0']);
    expect(status).to.equal(1);
    expect(stderr).to.contain('a server is running on the data directory').and.not.contain('    at ');
  });

  it('--example without python3 says what is missing', async () => {
    const { status, stderr } = await workplace.svc(['up', '--port', '0', '--example'], {
      PATH: '/nonexistent',
    });
    expect(status).to.equal(1);
    expect(stderr).to.match(/^svc: the example needs python3/m);
  });
});

/** The last step that the chart of a metric says it shows. */
async function readStep(chart: Locator): Promise<number> {
  const label = (await chart.getAttribute('aria-label')) ?? '';
  return Number(/train\/loss: \S+ at step (\d+)/.exec(label)?.[1] ?? -1);
}

interface Canvas {
  readonly width: number;
  readonly height: number;
  getContext(kind: '2d'): { getImageData(...area: number[]): { data: Uint8ClampedArray } };
}

/** How many pixels of the chart's canvas are drawn. */
function countInk(chart: Locator): Promise<number> {
  const canvas = chart.locator('canvas').first();
  return canvas.evaluate((element: Canvas) => {
    const { data } = element.getContext('2d').getImageData(0, 0, element.width, element.height);
    return data.filter((value, index) => index % 4 === 3 && value > 0).length;
  });
}
