import { expect } from 'chai';
import { diagnosis } from './harness/records.js';
import { mountRunPage } from './harness/run-world.js';
import { VIEWS, useStage } from './harness/stage.js';

describe('many reasons for the health of a run', () => {
  const stage = useStage();

  for (const [name, view] of Object.entries(VIEWS)) {
    it(`are three, and the others when asked, on ${name}`, async () => {
      const reasons = Array.from({ length: 20 }, (_, at) => `metric-${at} is Infinity at step ${at}`);
      const page = await mountRunPage(stage, {
        summary: { health: { status: 'warning', reasons } },
        api: { 'GET /runs/{run_id}/diagnosis': diagnosis() },
        tab: 'config',
        ...view,
      });
      const shown = page.locator('.reasons li').filter({ visible: true });
      await stage.untilEqual(() => shown.count(), 3);
      await stage.expectSound();
      await page.getByText('17 more').click();
      await stage.untilEqual(() => shown.count(), 20);
      expect(await shown.last().innerText()).to.include('metric-19 is Infinity at step 19');
      await stage.expectSound('with all');
    });
  }
});
