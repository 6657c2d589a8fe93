import type { Job } from '@svc/contract';
import { until } from '@svc/hooks/testing';
import { expect } from 'chai';
import type { ApiRequest } from './harness/fake-api.js';
import { MINUTE, event, experiment, idOf, job, node, project, status } from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

const PAGE_SIZE = 200;

describe('the list of jobs', () => {
  const stage = useStage();
  const chip = (name: string | RegExp) => stage.page.getByRole('button', { name });
  const answer = (...items: Job[]) => ({ items, next_before: null });

  describe('the other filters', () => {
    const vision = project(1, { name: 'vision' });
    const api = {
      'GET /projects': { items: [vision] },
      'GET /nodes': { items: [node(1)] },
      'GET /status': status({ RUNNING: 4 }),
      'GET /jobs': answer(job(1)),
    };

    it('are in the address, together', async () => {
      await stage.mount('svc-jobs-page', { properties: { query: '' }, address: '/jobs', api });
      await chip('Running 4').waitFor();
      await stage.page.getByLabel('projects').selectOption('vision');
      await stage.page.getByLabel('nodes').selectOption('node-1');
      await stage.page.getByLabel('Find jobs by name or id').fill('resnet 50');
      const wanted = `project_id=${vision.id}&node_id=${idOf('node', 1)}`;
      await stage.untilEqual(() => new URL(stage.page.url()).search, `?q=resnet+50&${wanted}`);
      await until(() => stage.api.requests.includes(`GET /jobs?q=resnet+50&${wanted}&limit=${PAGE_SIZE}`));
      // The server counts all jobs, of whatever project.
      await stage.untilEqual(() => chip(/^Running/).innerText(), 'Running');
      await stage.expectSound();
    });

    it('are taken from the address, also before the name of a node is known', async () => {
      await stage.mount('svc-jobs-page', {
        properties: { query: `q=train&node_id=${idOf('node', 9)}` },
        api: { ...api, 'GET /jobs': answer() },
      });
      await stage.page.getByText('Each word of “train” has to occur in the name').waitFor();
      expect(await stage.page.getByLabel('Find jobs by name or id').inputValue()).to.equal('train');
      expect(await stage.page.getByLabel('nodes').inputValue()).to.equal(idOf('node', 9));
      await stage.expectSound();
    });
  });

  it('shows the names of the project and experiment that a job was submitted to by their ids', async () => {
    const ids = { project_id: idOf('prj', 1), experiment_id: idOf('exp', 1) };
    const byId = { ...ids, project: ids.project_id, experiment: ids.experiment_id.slice(4) };
    await stage.mount('svc-jobs-page', {
      properties: { query: '' },
      api: {
        'GET /jobs': answer(job(2, { ...ids, project: 'A', experiment: 'as it was' }), job(1, byId)),
        'GET /projects/{project_id}': project(1, { name: 'vision' }),
        'GET /experiments/{experiment_id}': experiment(1, { name: 'resnet' }),
      },
    });
    await stage.untilEqual(
      async () => (await stage.page.locator('.place').allInnerTexts()).map((text) => text.trim()),
      ['A / as it was', 'vision / resnet'],
    );
    expect(stage.api.count('GET /projects/')).to.equal(1);
  });

  it('keeps its filters in sight on a phone', async () => {
    await stage.mount('svc-jobs-page', {
      properties: { query: 'status=LOST' },
      viewport: PHONE,
      api: {
        'GET /status': status({
          RUNNING: 1234,
          QUEUED: 1,
          SUCCEEDED: 56_789,
          FAILED: 1,
          CANCELLED: 2,
          LOST: 3,
        }),
        'GET /jobs': answer(job(1, { status: 'LOST' })),
      },
    });
    await chip(/^Lost/).waitFor();
    for (const control of [
      chip(/^All/),
      chip(/^Lost/),
      stage.page.getByLabel('projects'),
      stage.page.getByLabel('nodes'),
    ]) {
      const box = (await control.boundingBox())!;
      expect(box.x, 'left').to.be.at.least(0);
      expect(box.x + box.width, 'right').to.be.at.most(PHONE.width);
    }
    await stage.expectSound();
  });

  it('leads to the form for a new job, not for a token that can only read', async () => {
    await stage.mount('svc-jobs-page', { properties: { query: '' } });
    const link = stage.page.getByRole('link', { name: 'Submit a job' });
    expect(await link.getAttribute('href')).to.equal('/jobs/new');
    await stage.mount('svc-jobs-page', { properties: { query: '' }, canWrite: false });
    await stage.page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    expect(await link.count()).to.equal(0);
  });

  describe('10 000 jobs', () => {
    const MOST = 10_000;
    const pageOf = ({ query }: ApiRequest) => {
      const before = Number(query.get('before') ?? Infinity);
      const end = all.findIndex((one) => one.created_at < before);
      const items = all.slice(end, end + PAGE_SIZE);
      return { items, next_before: end + PAGE_SIZE < MOST ? items.at(-1)!.created_at : null };
    };
    const all = Array.from({ length: MOST }, (_, at) =>
      job(
        MOST - at,
        at % 3 === 0 ? { status: 'FAILED', failure_message: 'exited with code 1', finished_at: MINUTE } : {},
      ),
    );
    const rows = () => stage.page.locator('svc-job-row').count();
    const toEnd = () => stage.page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));

    it('are reached by scrolling, and only those in and near the window are drawn', async function () {
      this.timeout(120_000);
      await stage.mount('svc-jobs-page', { properties: { query: '' }, api: { 'GET /jobs': pageOf } });
      await stage.page.getByRole('link', { name: 'job-10000', exact: true }).waitFor();
      const last = stage.page.getByRole('link', { name: 'job-1', exact: true });
      await until(
        async () => {
          await toEnd();
          return (await last.count()) === 1;
        },
        { timeoutMs: 90_000, everyMs: 50 },
      );
      await stage.untilEqual(
        () => stage.page.getByRole('table').getAttribute('aria-rowcount'),
        String(MOST + 1),
      );
      expect(await rows()).to.be.at.most(200);
      await stage.page.evaluate(() => window.scrollTo(0, 0));
      await stage.page.getByRole('link', { name: 'job-10000', exact: true }).waitFor();
      await stage.untilEqual(async () => (await rows()) <= 200, true);
      // What changes is shown where the reader is.
      stage.api.change({
        'GET /jobs': (request: ApiRequest) => ({
          ...pageOf(request),
          items: [job(MOST + 1), ...pageOf(request).items],
        }),
      });
      await stage.push('/events/stream', [event(1, { job_id: idOf('job', MOST + 1) })]);
      await stage.page.getByRole('link', { name: `job-${MOST + 1}`, exact: true }).waitFor();
    });

    it('keep their places while chunks are left out and drawn again', async () => {
      await stage.mount('svc-jobs-page', { properties: { query: '' }, api: { 'GET /jobs': pageOf } });
      await stage.page.getByRole('link', { name: 'job-10000', exact: true }).waitFor();
      const height = () => stage.page.evaluate(() => document.documentElement.scrollHeight);
      const row = stage.page.locator('svc-job-row', {
        has: stage.page.getByRole('link', { name: 'job-9990', exact: true }),
      });
      const top = () => row.evaluate((element) => element.getBoundingClientRect().top + window.scrollY);
      const before = await top();
      await stage.page.evaluate(() => window.scrollTo(0, 6000));
      await stage.untilEqual(() => row.count(), 0);
      expect(await height()).to.be.greaterThan(6000);
      await stage.page.evaluate(() => window.scrollTo(0, 0));
      await row.waitFor();
      expect(await top()).to.equal(before);
    });
  });
});
