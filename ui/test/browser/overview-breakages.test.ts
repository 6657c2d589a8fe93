import { expect } from 'chai';
import type { ApiTable } from './harness/fake-api.js';
import { LIVELY, TRAINING, eventsOf, failed } from './harness/overview.js';
import { MINUTE, NOW, event, idOf } from './harness/records.js';
import { useStage } from './harness/stage.js';

const HOUR = 60 * MINUTE;

describe('the overview, of what broke since the last visit', () => {
  const stage = useStage();
  const mount = (api: ApiTable = {}) => stage.mount('svc-overview-page', { api: { ...LIVELY, ...api } });
  const region = (name: RegExp) => stage.page.getByRole('region', { name });
  const events = [
    failed(1),
    event(2, {
      type: 'OOM',
      severity: 'critical',
      title: 'Out of memory in job-1',
      job_id: idOf('job', 1),
      created_at: NOW - 11 * MINUTE,
    }),
    event(3, {
      type: 'JOB_LOST',
      severity: 'warning',
      title: 'Job job-5 lost',
      job_id: idOf('job', 5),
      created_at: NOW - 20 * MINUTE,
    }),
    event(4, {
      type: 'JOB_LOST',
      severity: 'warning',
      title: 'Job job-6 lost',
      job_id: idOf('job', 6),
      created_at: NOW - 30 * MINUTE,
    }),
    event(5, {
      type: 'JOB_FOUND',
      title: 'Job job-6 is running after all',
      job_id: idOf('job', 6),
      created_at: NOW - 25 * MINUTE,
    }),
    event(6, {
      type: 'GPU_UNHEALTHY',
      severity: 'critical',
      title: 'GPU 3 of node-1 is lost',
      node_id: idOf('node', 1),
      created_at: NOW - 40 * MINUTE,
    }),
    failed(7, { data: { status: 'CANCELLED' }, title: 'Job job-7 cancelled' }),
    failed(8, { created_at: NOW - 5 * HOUR }),
  ];
  const list = () => stage.page.getByRole('list', { name: 'What broke' });

  it('counts it, says what, and leads to why', async () => {
    await mount({ 'GET /events': eventsOf(events) });
    await list().waitFor();
    await region(/^2 failed, 1 lost, 1 critical event in the last 24 hours/).waitFor();
    const first = list().getByRole('listitem').filter({ hasText: 'Job job-1 failed' });
    await first.getByText('exited with code 1').waitFor();
    await first.getByText('Out of memory in job-1').waitFor();
    expect(await first.getByRole('link', { name: 'Why it failed' }).getAttribute('href')).to.equal(
      `/jobs/${idOf('job', 1)}`,
    );
    const gpu = list().getByRole('listitem').filter({ hasText: 'GPU 3 of node-1 is lost' });
    expect(await gpu.getByRole('link', { name: 'node-1' }).getAttribute('href')).to.equal(
      `/nodes/${idOf('node', 1)}`,
    );
    expect(await list().getByText('job-6').count()).to.equal(0);
    expect(await list().getByText('job-7').count()).to.equal(0);
    await stage.expectSound();
  });

  it('leads to the attempt that failed, which may not be the last one', async () => {
    const ended = failed(1, { data: { status: 'FAILED', attempt: 2 } });
    await mount({ 'GET /events': eventsOf([ended]) });
    const link = list().getByRole('link', { name: 'Why it failed' });
    expect(await link.getAttribute('href')).to.equal(`/jobs/${idOf('job', 1)}?attempt=2`);
  });

  it('leads to the diagnosis of a run without a job', async () => {
    const lost = event(1, {
      type: 'RUN_LOST',
      severity: 'warning',
      title: 'Run x lost',
      run_id: TRAINING.id,
    });
    await mount({ 'GET /events': eventsOf([lost]) });
    const link = list().getByRole('link', { name: 'Look at the run' });
    expect(await link.getAttribute('href')).to.equal(`/runs/${TRAINING.id}?tab=diagnosis`);
  });

  it('is marked as seen, and the focus stays there', async () => {
    const page = await mount({ 'GET /events': eventsOf(events) });
    await page.getByRole('button', { name: 'Mark as seen' }).click();
    await page.getByText('Nothing broke since your last visit').waitFor();
    expect(
      await stage.page.evaluate(
        () => document.querySelector('svc-overview-page')!.shadowRoot!.activeElement?.id,
      ),
    ).to.equal('broken');
  });

  it('grows when something fails meanwhile', async () => {
    const page = await mount();
    await page.getByText('Nothing broke in the last 24 hours.').waitFor();
    const news = failed(1, { created_at: NOW });
    stage.api.change({ 'GET /events': eventsOf([news]) });
    await stage.push('/events/stream', [news]);
    await region(/^1 failed/).waitFor();
  });

  it('shows a few, and all when asked', async () => {
    const many = Array.from({ length: 12 }, (_, at) => failed(at + 1));
    await mount({ 'GET /events': eventsOf(many) });
    await list().waitFor();
    expect(await list().getByRole('listitem').count()).to.equal(5);
    expect(await stage.page.getByRole('link', { name: 'Show all 12' }).getAttribute('href')).to.equal(
      '/?broken=all',
    );
    await stage.change({ query: 'broken=all' });
    await stage.untilEqual(() => list().getByRole('listitem').count(), 12);
  });

  it('tells little of each: two further titles, and a way to the others', async () => {
    const of = { severity: 'critical' as const, run_id: idOf('run', 1) };
    const many = Array.from({ length: 20 }, (_, at) => event(at + 100, { ...of, created_at: NOW - at }));
    await mount({ 'GET /events': eventsOf(many) });
    await region(/^20 critical events in 1 run /).waitFor();
    expect(
      await list()
        .getByText(/^event-/)
        .count(),
    ).to.equal(3);
    expect(await list().getByRole('link', { name: 'and 17 more' }).getAttribute('href')).to.equal(
      `/events?run_id=${idOf('run', 1)}&severity=critical`,
    );
  });

  it('says that there is more than it knows', async () => {
    const many = Array.from({ length: 200 }, (_, at) => failed(at + 1));
    await mount({ 'GET /events': eventsOf(many) });
    await region(/^200 failed, and more /).waitFor();
  });
});
