import { routes } from '@svc/contract';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { installPacked } from '../support/packages.js';
import { readFiles, writeFiles } from '../support/page.js';
import { createWorkplace, type Server, type Workplace } from '../support/workplace.js';

describe('the console page of docs/plugins.md, in a folder outside the repository with the packed packages', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let runId: string;

  before(async function () {
    const chromium = requireEngine(this, 'chromium');
    workplace = createWorkplace({ isInstalled: true });
    await installPacked(workplace.dir);
    writeFiles(workplace.dir, readFiles('docs/plugins.md'));
    server = await workplace.startServer();
    const body = { name: 'first', project: 'vision' };
    runId = (await server.client.call(routes.createRun, { body })).id;
    browser = await launchBrowser(chromium);
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    complaints = collectComplaints(page);
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  it('is opened by its address and reads data with the token of who signs in', async () => {
    await page.goto(`${server.url}/workload`);
    const token = readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim();
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Workload' }).waitFor();
    await page.getByText('vision: 1 runs').waitFor();
    expect(await page.title()).to.equal('Workload · svc');
    await screenshot(page, 'extension-page');
  });

  it('has the compressed copies of the console’s files', async () => {
    for (const encoding of ['br', 'gzip']) {
      const { headers } = await fetch(`${server.url}/theme.js`, { headers: { 'Accept-Encoding': encoding } });
      expect(headers.get('content-encoding')).to.equal(encoding);
    }
  });

  it('has an entry in the navigation, beside the console’s own', async () => {
    const navigation = page.getByRole('navigation', { name: 'Main' });
    const entry = navigation.getByRole('link', { name: 'Workload', exact: true });
    await navigation.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    expect(await entry.getAttribute('aria-current')).to.not.equal('page');
    await entry.click();
    await page.getByText('vision: 1 runs').waitFor();
    expect(await entry.getAttribute('aria-current')).to.equal('page');
  });

  it('leads to the console’s own pages, whose run has the tab that the plugin adds', async () => {
    await page.getByRole('link', { name: 'vision' }).click();
    await page.getByRole('link', { name: 'first', exact: true }).click();
    await page.getByRole('link', { name: 'Raw' }).click();
    await page.getByText(`"id": "${runId}"`).waitFor();
    expect(new URL(page.url()).search).to.equal('?tab=raw');
    await screenshot(page, 'extension-run-tab');
    await page.reload();
    await page.getByText(`"id": "${runId}"`).waitFor();
    await page.getByRole('link', { name: 'Charts' }).click();
    await page.getByText('No metrics yet').waitFor();
  });

  it('breaks nothing of the content security policy', () => {
    expect(complaints).to.deep.equal([]);
  });
});
