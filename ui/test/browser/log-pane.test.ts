import { ID, mountJobPage, type JobWorld } from './harness/job-world.js';
import { NOW } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe('the log on the page of its job', () => {
  const stage = useStage();
  const mount = (world?: JobWorld) => mountJobPage(stage, world);

  for (const [width, height] of [
    [844, 390],
    [1280, 480],
    [390, 500],
  ] as const) {
    it(`ends inside a window of ${width} x ${height}, with its newest line in view`, async () => {
      const page = await mount();
      await stage.page.setViewportSize({ width, height });
      const newest = page.getByText('second line');
      await newest.waitFor();
      const placesOf = () =>
        page.locator('section.log').evaluate((pane) => {
          pane.scrollIntoView({ block: 'end' });
          return pane.getBoundingClientRect().height - innerHeight;
        });
      const bars = width < 900 ? 7.5 * 16 : 0;
      await stage.untilEqual(async () => (await placesOf()) <= -bars, true);
      const isInView = () =>
        newest.evaluate((row) => {
          const { top, bottom } = row.getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        });
      await stage.untilEqual(isInView, true);
      await stage.expectSound();
    });
  }

  it('has a small pane for the log of a job that printed nothing', async () => {
    const page = await mount({
      job: { status: 'SUCCEEDED', finished_at: NOW },
      api: { 'GET /jobs/{job_id}/logs': { job_id: ID, attempt: 1, lines: [], dropped: 0 } },
    });
    await page.getByText('The job printed nothing.').waitFor();
    const heightOf = () =>
      page.getByRole('region', { name: 'Log' }).evaluate((pane) => pane.getBoundingClientRect().height);
    await stage.untilEqual(async () => (await heightOf()) < 240, true);
  });

  it('is shown in the same way for another attempt, from its newest line', async () => {
    const page = await mount({ job: { attempt: 2 }, query: 'search=second&stream=stdout&line=1' });
    await page.getByLabel('Attempt', { exact: true }).selectOption('1');
    await stage.untilEqual(
      () => stage.page.evaluate(() => location.search),
      '?search=second&stream=stdout&attempt=1',
    );
  });
});
