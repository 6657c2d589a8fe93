import { expect } from 'chai';
import { OFFLINE, type ApiTable } from './harness/fake-api.js';
import { ID, tail } from './harness/job-world.js';
import { LIVELY } from './harness/overview.js';
import { attempt, job, node } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const RUNNING_JOB: ApiTable = {
  'GET /jobs/{job_id}': job(1),
  'GET /jobs/{job_id}/runs': { items: [] },
  'GET /jobs/{job_id}/attempts': { items: [attempt(1)] },
  'GET /jobs/{job_id}/logs': tail(Array.from({ length: 100 }, (_, at) => `line ${at}`)),
  'GET /nodes': { items: [node(1)] },
};

describe('a server that is gone', () => {
  const stage = useStage();
  const banner = () => stage.page.getByText('The connection to the server is lost.');
  const outOfDate = () => stage.page.getByText('This may be out of date.');
  const boxOf = (selector: string) => stage.page.locator(selector).boundingBox();

  it('is told once, and nothing of the page moves when it goes and when it is back', async () => {
    await stage.mountApp({ address: '/', api: LIVELY });
    await stage.page.getByText('val/loss').waitFor();
    const before = await boxOf('svc-activities');
    await stage.setAway(true);
    await banner().waitFor();
    expect(await outOfDate().count()).to.equal(0);
    expect(await boxOf('svc-activities')).to.deep.equal(before);
    await stage.page.getByText('0.125').waitFor();
    await stage.expectSound();
    await stage.setAway(false);
    await banner().waitFor({ state: 'detached' });
    expect(await outOfDate().count()).to.equal(0);
    expect(await boxOf('svc-activities')).to.deep.equal(before);
  });

  it('is told by the page where its stream goes on and a request fails', async () => {
    await stage.mountApp({ address: '/', api: LIVELY });
    await stage.page.getByText('val/loss').waitFor();
    stage.api.change({ 'GET /nodes': OFFLINE });
    await outOfDate().waitFor();
    expect(await banner().count()).to.equal(0);
  });

  it('is no longer told by the form for a new job once it is back', async () => {
    await stage.mountApp({ address: '/jobs/new', api: { 'GET /nodes': { items: [node(1)] } } });
    const command = stage.page.getByLabel('Command', { exact: true });
    await command.fill('true');
    await stage.setAway(true);
    await stage.page.getByRole('button', { name: 'Submit the job' }).click();
    const said = stage.page.getByText('What you typed is kept.');
    await said.waitFor();
    await banner().waitFor();
    await stage.setAway(false);
    await said.waitFor({ state: 'detached' });
    expect(await command.inputValue()).to.equal('true');
  });

  for (const viewport of [DESK, PHONE])
    it(`is told under the end of a log that fills the window (${viewport.width} px)`, async () => {
      await stage.mountApp({ address: `/jobs/${ID}?view=log`, api: RUNNING_JOB });
      await stage.page.setViewportSize(viewport);
      await stage.page.getByText('line 99').waitFor();
      await stage.setAway(true);
      await banner().waitFor();
      const top = (await stage.page.locator('svc-connection-banner p').boundingBox())!.y;
      const bottomOf = async (): Promise<number> => {
        const { y, height } = (await boxOf('svc-log-view'))!;
        return Math.round(y + height);
      };
      await stage.untilEqual(async () => (await bottomOf()) <= top, true);
      await stage.page.getByText('line 99').waitFor();
    });
});
