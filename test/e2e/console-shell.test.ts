import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot, signIn } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { createWorkplace, submit, type Server, type Workplace } from '../support/workplace.js';

describe('the shell of the console', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let token: string;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  before(async function () {
    const chromium = requireEngine(this, 'chromium');
    workplace = createWorkplace();
    server = await workplace.startServer();
    browser = await launchBrowser(chromium);
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    complaints = collectComplaints(page);
    await page.goto(server.url);
    token = readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim();
    await signIn(page, token);
    await heading('Overview').waitFor();
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  const heading = (name: string, at = page) => at.getByRole('heading', { level: 1, name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const iconFile = () =>
    page.evaluate<string>(`document.querySelector('link[rel="icon"]').getAttribute('href')`);
  const stopServer = async () => {
    server.kill('SIGTERM');
    await server.ended;
  };
  /** At the same address. */
  const startServerAgain = async () => {
    server = await workplace.startServer({ args: ['--port', new URL(server.url).port] });
  };
  /** The browser tells of each request that found no server. */
  const forgetOutage = () => {
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !/ERR_|Failed to/.test(text)));
  };

  it('loads at most 150 kB of compressed scripts and styles until the overview is there', async () => {
    const sizes = await page.evaluate<number[]>(
      `performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.startsWith('/assets/'))
        .map(({ encodedBodySize }) => encodedBodySize)`,
    );
    expect(sizes).not.to.have.length(0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.below(150_000);
  });

  it('loads the module of its page while it asks who is signed in', async () => {
    const tab = await browser.newPage();
    const asked = tab.waitForRequest(/\/svc-nodes-page-[^/]*\.js$/);
    await tab.route('**/api/v1/auth/whoami', async (route) => {
      await asked;
      await route.continue();
    });
    await tab.addInitScript(`sessionStorage.setItem('svc.token', ${JSON.stringify(token)})`);
    await tab.goto(`${server.url}/nodes`);
    await heading('Nodes', tab).waitFor();
    await tab.close();
  });

  it('finds a job by its hostile name, and shows in the icon that it waits', async () => {
    const { id } = await submit(server.client, {
      command: ['true'],
      name: 'net <b>50</b>',
      resources: { gpu: 1 },
    });
    await until(async () => (await iconFile()) === '/favicon-waiting.svg');
    expect((await fetch(`${server.url}/favicon-waiting.svg`)).headers.get('content-type')).to.include('svg');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Go to a page/ }).fill('net <b');
    await page.getByRole('option', { name: /net <b>50<\/b>/ }).click();
    await heading('net <b>50</b>').waitFor();
    expect(new URL(page.url()).pathname).to.equal(`/jobs/${id}`);
  });

  it('shows events of what the address names', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await heading('Events').waitFor();
    await page.getByText('net <b>50</b>').first().waitFor();
    await page.getByRole('combobox', { name: 'types' }).selectOption('JOB_LOST');
    await page.getByText('No events match the filter').waitFor();
    await page.reload();
    await page.getByText('No events match the filter').waitFor();
    await page.getByRole('combobox', { name: 'types' }).selectOption('JOB_QUEUED');
    await page.getByText('net <b>50</b>').first().waitFor();
    await screenshot(page, 'events');
  });

  it('says that the server is away, and is live again by itself when it is back', async () => {
    await stopServer();
    await page.getByText('The connection to the server is lost.').waitFor();
    await screenshot(page, 'server-away');
    await startServerAgain();
    await page
      .getByText('The connection to the server is lost.')
      .waitFor({ state: 'detached', timeout: 60_000 });
    await submit(server.client, { command: ['true'], name: 'after the restart', resources: { gpu: 1 } });
    await page.getByText('after the restart').first().waitFor();
    forgetOutage();
  });

  it('opened while the server is away, loads by itself when it is back', async () => {
    await page.route('**/api/v1/**', (route) => route.abort('connectionrefused'));
    await page.reload();
    await page.getByText('The server does not answer').first().waitFor();
    await page.unroute('**/api/v1/**');
    await heading('Events').waitFor({ timeout: 30_000 });
    forgetOutage();
  });

  it('creates a token that works at once, and revokes it, which is told where it is used', async () => {
    await page.goto(`${server.url}/tokens`);
    await button('Create a token').click();
    await page.getByLabel('Name', { exact: true }).fill('a <i>reader</i>');
    await button('Create the token').click();
    const secret = await page.locator('svc-token-form svc-code code').innerText();
    await button('I have copied it').click();
    const other = await browser.newPage();
    await other.goto(`${server.url}/settings`);
    await signIn(other, secret);
    await heading('Settings', other).waitFor();
    expect(await other.getByRole('link', { name: 'Tokens' }).count()).to.equal(0);
    await button('Revoke a <i>reader</i>').click();
    await button('Revoke the token').click();
    await page.getByText('The token a <i>reader</i> was revoked.').waitFor();
    await other.getByText(/the token "a <i>reader<\/i>" was revoked/i).waitFor({ timeout: 30_000 });
    await other.getByLabel('Token', { exact: true }).waitFor();
    await screenshot(other, 'revoked');
    await other.close();
    expect(await page.content()).not.to.include(secret);
  });

  it('defines a metric, which the API has then', async () => {
    await page.goto(`${server.url}/settings`);
    await page.getByLabel('Name of a metric').fill('val/weird metric');
    await page.getByLabel('Its goal').selectOption('maximize');
    await button('Define').click();
    const row = page.getByRole('row', { name: /val\/weird metric/ });
    await row.waitFor();
    await row.getByRole('textbox').fill('ms');
    await row.getByRole('textbox').press('Enter');
    await row.getByRole('radio').check();
    const read = async () => (await server.client.call(routes.listMetricDefinitions, { query: {} })).items[0];
    await until(async () => (await read())?.is_primary === true && (await read())?.unit === 'ms');
    expect(await read()).to.include({ name: 'val/weird metric', direction: 'maximize', level: 'global' });
    expect(complaints).to.deep.equal([]);
  });
});
