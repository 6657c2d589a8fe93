import { expect } from 'chai';
import { Refusal } from './harness/fake-api.js';
import { ID, mountJobPage, type JobWorld } from './harness/job-world.js';
import { event } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe('the page of a job of which something is not there', () => {
  const stage = useStage();
  const mount = (world?: JobWorld) => mountJobPage(stage, world);
  const head = () => stage.page.getByRole('heading', { level: 1 });

  for (const asked of ['99999999999', '0', 'zzz'])
    it(`says that there is no attempt ${asked}, and leads to the newest`, async () => {
      const page = await mount({ query: `attempt=${asked}` });
      await page.getByRole('heading', { name: 'No such attempt' }).waitFor();
      const link = page.getByRole('link', { name: 'Show the newest' });
      expect(await link.getAttribute('href')).to.equal(`/jobs/${ID}`);
      expect(stage.api.count(`GET /jobs/${ID}/logs`)).to.equal(0);
      await stage.expectSound();
    });

  it('says that the job was deleted while it was looked at', async () => {
    const page = await mount();
    await head().waitFor();
    stage.api.change({ 'GET /jobs/{job_id}': new Refusal(404, 'not_found', 'no job') });
    await stage.push('/events/stream', [event(1, { job_id: ID })]);
    await page.getByRole('heading', { name: 'This job was deleted' }).waitFor();
    expect(await page.getByRole('button').count()).to.equal(0);
  });
});
