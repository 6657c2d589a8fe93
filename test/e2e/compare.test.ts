import { routes } from '@svc/contract';
import { loadToken } from '@svc/client/local-server';
import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { collectComplaints, launchBrowser, screenshot } from '../support/browser.js';
import { requireEngine } from '../support/engines.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

/** Descends a slope, and saves a checkpoint at its end. */
const TRAINING = `
import os, sys
import svc

lr = float(sys.argv[1])
run = svc.init(config={"lr": lr, "model": {"name": "line"}})
x = 1.0
for step in range(1, 51):
    x -= lr * 2 * x
    run.log({"val/loss": x * x, "speed": 10.0 + lr}, step=step)
path = f"checkpoint-{os.environ['SVC_RUN_ID'][-6:]}"
with open(path, "w") as file:
    file.write(str(x))
run.checkpoint(path, step=50)
`;
const EVALUATION = `
import json, os

with open(os.environ["SVC_EVAL_CHECKPOINT"]) as file:
    x = float(file.read())
with open(os.environ["SVC_EVAL_OUTPUT"], "w") as file:
    json.dump({"metrics": {"val/loss": x * x, "accuracy": 0.875}, "runtime_s": 0.5}, file)
`;
const PATIENCE_MS = 60_000;

describe('runs that are compared, and a checkpoint that is evaluated, in the console', function () {
  this.timeout(180_000);
  let workplace: Workplace;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let python: string;
  const runIds: string[] = [];

  before(async function () {
    python = requireEngine(this, 'python');
    const chromium = requireEngine(this, 'chromium');
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server);
    writeFileSync(path.join(workplace.dir, 'train.py'), TRAINING);
    writeFileSync(path.join(workplace.dir, 'eval.py'), EVALUATION);
    for (const [name, lr] of [
      ['slow', '0.01'],
      ['fast', '0.1'],
    ] as const) {
      const { id } = await submit(server.client, {
        name,
        command: [python, 'train.py', lr],
        working_dir: workplace.dir,
        resources: { cpu_only: true },
        project: 'lines',
        experiment: 'rates',
      });
      const { run_id } = await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
      runIds.push(run_id!);
    }
    browser = await launchBrowser(chromium);
    page = await browser.newPage({ viewport: { width: 1360, height: 900 } });
    page.setDefaultTimeout(PATIENCE_MS);
    complaints = collectComplaints(page);
    await page.addInitScript(
      `sessionStorage.setItem('svc.token', ${JSON.stringify(loadToken(workplace.dataDir))})`,
    );
  });
  after(async () => {
    await browser?.close();
    await workplace?.close();
  });

  it('are found by their experiment, and compared from there', async () => {
    await page.goto(`${server.url}/projects`);
    await page.getByRole('link', { name: 'lines' }).click();
    await page.getByRole('link', { name: 'rates' }).click();
    await page.getByRole('link', { name: 'Compare them all' }).click();
    await page.getByRole('heading', { name: 'Compare', exact: true }).waitFor();
    await page.locator('svc-chart .uplot').nth(1).waitFor();
    const fast = page.locator('svc-compare-table tbody tr').filter({ hasText: 'fast' });
    await fast.getByText('best').waitFor();
    const config = page.locator('svc-config-differences');
    await config.getByText('lr', { exact: true }).waitFor();
    expect(await config.locator('tbody th').allInnerTexts()).to.deep.equal(['fast', 'slow']);
    expect(await page.locator('svc-scatter circle').count()).to.equal(2);
    await screenshot(page, 'compare');
  });

  it('show the same view to who opens the address again', async () => {
    await page.getByRole('button', { name: 'slow as the baseline' }).click();
    await page.getByRole('button', { name: 'Log scale' }).click();
    await page.reload();
    const slow = page.locator('svc-compare-table tbody tr').filter({ hasText: 'slow' });
    await slow.getByText('baseline').waitFor();
    const isLog = page.getByRole('button', { name: 'Log scale' });
    expect(await isLog.getAttribute('aria-pressed')).to.equal('true');
  });

  it('is evaluated from its page, which shows the result when it is there', async () => {
    const { items } = await server.client.call(routes.listRunCheckpoints, {
      params: { run_id: runIds[1]! },
    });
    const checkpoint = items[0]!;
    await page.goto(`${server.url}/checkpoints`);
    await page.getByRole('link', { name: path.basename(checkpoint.path) }).click();
    await page.getByRole('button', { name: 'Evaluate from here' }).click();
    await page.getByLabel('Command').fill(`${python} eval.py`);
    await page.getByLabel('Suite').fill('heldout');
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click();
    const table = page.locator('svc-evaluations-table');
    await table.getByText('Succeeded').waitFor();
    await table.getByText('0.875').waitFor();
    await page
      .getByText(/val\/loss/)
      .first()
      .waitFor();
    await screenshot(page, 'checkpoint');
    const params = { ckpt_id: checkpoint.id };
    const { metadata } = await server.client.call(routes.getCheckpoint, { params });
    expect(metadata.evaluations.map(({ suite, metrics }) => [suite, metrics['accuracy']])).to.deep.equal([
      ['heldout', 0.875],
    ]);
    await page.getByRole('link', { name: 'Checkpoints' }).first().click();
    await page.getByRole('link', { name: 'Evaluations' }).click();
    await page.getByRole('listitem').getByText('heldout', { exact: true }).waitFor();
  });

  it('let nothing go wrong on these pages', () => {
    // Without a primary metric the server recommends nothing, by 404 and 422, and the pages say so.
    const others = complaints.filter((complaint) => !/status of (404|422)/.test(complaint));
    expect(others).to.deep.equal([]);
  });
});
