import { expect } from 'chai';
import type { ApiTable } from './harness/fake-api.js';
import { mountJobPage } from './harness/job-world.js';
import { diagnosis, evaluation, failure, idOf, line, project, run, summary } from './harness/records.js';
import { mountRunPage, ID as RUN } from './harness/run-world.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

declare global {
  interface Window {
    shifts: PerformanceObserver;
    moved: number;
  }
}

const LONG = 'a name without end '.repeat(12);

describe('what is read is not moved by what comes later:', () => {
  const stage = useStage();

  /** From now on. */
  const watch = () =>
    stage.page.evaluate(() => {
      window.moved = 0;
      window.shifts?.disconnect();
      window.shifts = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.moved += (entry as unknown as { value: number }).value;
      });
      window.shifts.observe({ type: 'layout-shift' });
    });

  /** Of what has been painted by now. */
  const moved = () =>
    stage.page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
      const late = window.shifts.takeRecords() as unknown as { value: number }[];
      window.moved = late.reduce((sum, { value }) => sum + value, window.moved);
      return window.moved;
    });

  /** The route answers when `release` is called. */
  const hold = (route: string, answer: object): { api: ApiTable; release: () => void } => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    return { api: { [route]: () => released.then(() => answer) }, release: () => release() };
  };

  for (const [name, viewport] of Object.entries({ 'a desk': DESK, 'a phone': PHONE })) {
    it(`the explanation of a failed job, on ${name}`, async () => {
      const last_errors = Array.from({ length: 20 }, (_, seq) => line(seq, `ERROR: ${LONG}`));
      const { api, release } = hold('GET /jobs/{job_id}/failure', failure({ evidence: [], last_errors }));
      await watch();
      const page = await mountJobPage(stage, { job: { status: 'FAILED', exit_code: 3 }, api, viewport });
      await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
      await moved();
      expect(await page.locator('svc-log-view').isVisible()).to.equal(false);
      release();
      await page.getByText('Log line 20').waitFor();
      await page.locator('svc-log-view').getByText('second line').waitFor();
      expect(await moved()).to.be.below(0.01);
    });

    it(`the health of a run, and the names of where it belongs, on ${name}`, async () => {
      const reasons = Array.from({ length: 3 }, (_, at) => `metric ${at} is NaN from step ${at} on`);
      const health = { status: 'critical' as const, reasons };
      const place = { project_id: idOf('prj', 1), experiment_id: idOf('exp', 1), job_id: idOf('job', 1) };
      const slow = hold('GET /runs/{run_id}/summary', summary(run(1, place), {}, { health }));
      const names = hold('GET /projects/{project_id}', project(1, { name: LONG }));
      await watch();
      const api = { ...slow.api, ...names.api, 'GET /runs/{run_id}/diagnosis': diagnosis() };
      const page = await mountRunPage(stage, { run: place, tab: 'config', api, viewport });
      await moved();
      slow.release();
      await page.getByText('metric 2 is NaN').waitFor();
      await moved();
      names.release();
      await page.getByRole('link', { name: LONG.trim() }).first().waitFor();
      expect(await moved()).to.be.below(0.01);
    });
  }

  it('the page of somebody who is signed in, on a phone', async () => {
    const me = hold('GET /auth/whoami', { name: 'me', scope: 'write', can_write: true });
    await stage.mountApp({ address: '/projects', api: me.api });
    await stage.page.setViewportSize(PHONE);
    await stage.page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    await watch();
    me.release();
    await stage.page.getByText('No projects yet').waitFor();
    expect(await moved()).to.be.below(0.01);
  });

  it('the names of the runs of evaluations, on a phone', async () => {
    const { api, release } = hold('GET /runs/{run_id}', run(1, { name: LONG }));
    await watch();
    const page = await stage.mount('svc-evaluations-page', {
      api: { 'GET /evaluations': { items: [1, 2, 3].map((n) => evaluation(n, { run_id: RUN })) }, ...api },
      viewport: PHONE,
    });
    await page.getByRole('link', { name: /^run / }).first().waitFor();
    await moved();
    release();
    await page.getByText(LONG.trim()).first().waitFor();
    expect(await moved()).to.equal(0);
    await stage.expectSound();
  });
});
