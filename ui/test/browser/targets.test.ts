import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { mountJobPage } from './harness/job-world.js';
import { LONG_NAME, evaluation, event, failure, idOf, line, run } from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

const MANY = [1, 2, 3, 4];

describe('what is reached by finger and by key:', () => {
  const stage = useStage();
  const lowestLink = (page: Locator) =>
    page
      .locator('a')
      .evaluateAll((links) => Math.min(...links.map((link) => link.getBoundingClientRect().height)));

  it('the links of evaluations, on a phone', async () => {
    const items = MANY.map((n) => evaluation(n, { run_id: idOf('run', 1) }));
    const api = { 'GET /evaluations': { items }, 'GET /runs/{run_id}': run(1, { name: LONG_NAME }) };
    await stage.mount('svc-evaluations-page', { api, viewport: PHONE });
    const page = stage.page.locator('svc-evaluations-table');
    await page.getByText(LONG_NAME).first().waitFor();
    expect(await lowestLink(page)).to.be.at.least(24);
    await stage.expectSound();
  });

  it('the links of events, on a phone', async () => {
    const of = { run_id: idOf('run', 1), job_id: idOf('job', 1), node_id: idOf('node', 1) };
    const data = { metric: LONG_NAME, step: 7 };
    const items = MANY.map((n) => event(n, { ...of, type: 'LOSS_NAN', data }));
    const page = await stage.mount('svc-events-list', { properties: { events: items }, viewport: PHONE });
    await page.getByText('event-4').waitFor();
    expect(await lowestLink(page)).to.be.at.least(24);
    await stage.expectSound();
  });

  it('a line of the log that scrolls in the explanation of a failure; others are no stop of the tab key', async () => {
    const last_errors = [line(0, 'short'), line(1, 'a long line '.repeat(200), 'stderr')];
    const api = { 'GET /jobs/{job_id}/failure': failure({ last_errors }) };
    const page = await mountJobPage(stage, { job: { status: 'FAILED', exit_code: 1 }, api, viewport: PHONE });
    await page.getByText('Log line 2').waitFor();
    const quotes = page.locator('svc-failure .quote');
    await stage.untilEqual(() => quotes.nth(1).getAttribute('tabindex'), '0');
    expect(await quotes.nth(0).getAttribute('tabindex')).to.equal(null);
    await stage.expectSound();
  });
});
