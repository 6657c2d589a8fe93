import type { ApiError } from '@svc/client';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot, signIn } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { createWorkplace, type Server, type Workplace } from '../support/workplace.js';

const DIFF = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-lr = 1\n+lr = 2\n';
const ENVIRONMENT = {
  hostname: 'node-7',
  packages: ['numpy==1.26.4', 'torch==2.4.0'],
  git: { commit: 'c0ffee00'.repeat(5), branch: 'main', dirty: true, diff: DIFF, diff_cut_bytes: 0 },
};

describe('the pages of runs', function () {
  this.timeout(120_000);
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
    const create = async (name: string, tags: string[]) => {
      const body = { name, tags, project: 'vision', environment: ENVIRONMENT };
      return (await server.client.call(routes.createRun, { body })).id;
    };
    id = await create('ResNet lr=0.1', ['best', 'sweep']);
    await create('resnet lr=0.2', ['sweep']);
    await create('vit lr=0.1', ['best']);
    browser = await launchBrowser(chromium);
    page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    complaints = collectComplaints(page);
    await page.goto(server.url);
    await signIn(page, readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim());
    await page.getByRole('link', { name: 'Runs' }).first().click();
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  const shown = () => page.locator('a.name').allInnerTexts();
  /** Until the runs of a new filter are here, those of the old one stay. */
  const untilShown = (names: readonly string[]) =>
    until(async () => (await shown()).join() === names.join(), { timeoutMs: 10_000 });

  it('finds runs by words of their names, and by a tag that is clicked', async () => {
    const search = page.getByLabel('Search runs by name');
    await page.getByRole('link', { name: 'vit lr=0.1', exact: true }).waitFor();
    await search.fill('RESNET');
    await untilShown(['resnet lr=0.2', 'ResNet lr=0.1']);
    await page.getByRole('link', { name: 'Tag best' }).click();
    await untilShown(['ResNet lr=0.1']);
    await screenshot(page, 'runs-phone');
    await page.reload();
    await page.getByRole('link', { name: 'ResNet lr=0.1', exact: true }).waitFor();
    expect(await search.inputValue()).to.equal('RESNET');
    await untilShown(['ResNet lr=0.1']);
    await page.getByRole('button', { name: 'Tagged best' }).click();
    await search.fill('');
    await page.getByRole('link', { name: 'vit lr=0.1', exact: true }).waitFor();
  });

  it('shows the commit, the packages and the changes that a run had', async () => {
    await page.goto(`${server.url}/runs/${id}`);
    await page.getByRole('link', { name: 'Environment', exact: true }).click();
    await page.getByText('torch==2.4.0').waitFor();
    await page.getByRole('link', { name: 'Code', exact: true }).click();
    await page.getByText('c0ffee00'.repeat(5)).waitFor();
    expect(await page.locator('svc-run-code .added').innerText()).to.equal('+lr = 2\n');
    expect(await page.locator('svc-run-code .removed').innerText()).to.equal('-lr = 1\n');
    await screenshot(page, 'run-environment-phone');
  });

  it('rename, tag, annotate, end, export and delete a run', async () => {
    const body = { points: [{ seq: 0, name: 'train/loss', step: 1, value: 0.5 }] };
    const { id: own } = await server.client.call(routes.createRun, { body: { name: 'old name' } });
    const params = { run_id: own };
    await server.client.call(routes.writePoints, { params, body });
    const read = () => server.client.call(routes.getRun, { params });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await page.goto(`${server.url}/runs/${own}`);

    await button('Edit').click();
    await page.getByLabel('Name', { exact: true }).fill('new name');
    await page.getByLabel('Add a tag').fill('keep');
    await page.getByLabel('Add a tag').press('Enter');
    await page.getByLabel('Notes').fill('Two lines\nof notes');
    await button('Save').click();
    await page.getByRole('heading', { name: 'new name' }).waitFor();
    const { name, tags, notes } = await read();
    expect({ name, tags, notes }).to.deep.equal({
      name: 'new name',
      tags: ['keep'],
      notes: 'Two lines\nof notes',
    });

    for (const [label, start] of [
      ['CSV', 'name,step,epoch,value,ts,seq\ntrain/loss,1,,0.5,'],
      ['JSON Lines', '{"name":"train/loss","step":1,"epoch":null,"value":0.5,'],
    ] as const) {
      const started = page.waitForEvent('download');
      await page.getByText('Export', { exact: true }).click();
      await button(`Points as ${label}`).click();
      expect(readFileSync(await (await started).path(), 'utf8')).to.match(
        new RegExp(`^${start.replaceAll('{', '\\{')}`),
      );
    }

    await button('End run').click();
    await page.getByLabel('Cancelled').check();
    await button('End the run').click();
    await button('Delete').waitFor();
    expect((await read()).status).to.equal('CANCELLED');

    await button('Delete').click();
    await page.getByText('Its 1 point of 1 metric').waitFor();
    await button('Delete the run').click();
    await page.waitForURL(`${server.url}/runs`);
    expect(
      await read().then(
        () => 200,
        (error: ApiError) => error.status,
      ),
    ).to.equal(404);
    await untilShown(['vit lr=0.1', 'resnet lr=0.2', 'ResNet lr=0.1']);
    // The page of the run may have asked for it a last time while it was deleted.
    const isOfDeleted = (text: string) => text.includes('404') && text.includes(own);
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !isOfDeleted(text)));
  });

  it('fit a phone, and nothing went wrong on them', async () => {
    for (const address of ['/runs', `/runs/${id}`]) {
      await page.goto(server.url + address);
      await page.getByText('ResNet lr=0.1').first().waitFor();
      const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(excess, address).to.equal(0);
    }
    expect(complaints).to.deep.equal([]);
  });
});
