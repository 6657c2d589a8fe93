import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { LIVELY, NODES, RUNNING, TRAINING, cluster, eventsOf, failed, jobsOf } from './harness/overview.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  event,
  idOf,
  job,
  metric,
  node,
  run,
  status,
  summary,
} from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

describe('the overview', () => {
  const stage = useStage();
  const mount = (api: ApiTable = {}, more: Parameters<typeof stage.mount>[1] = {}) =>
    stage.mount('svc-overview-page', { api: { ...LIVELY, ...api }, ...more });
  const region = (name: string | RegExp) => stage.page.getByRole('region', { name });
  const cell = (name: string | RegExp) => stage.page.getByRole('gridcell').getByRole('link', { name });

  it('shows what runs: how far it is, its primary metric, and where', async () => {
    const page = await mount();
    const list = page.getByRole('list', { name: 'What runs' });
    const first = list.getByRole('listitem').filter({ hasText: 'job-1' });
    await first.getByText('val/loss').waitFor();
    for (const text of ['400 / 1,000', '40 %', '0.125', 'GPU 0', /^5m 0\ds$/])
      await first.getByText(text).waitFor();
    expect(await first.getByRole('link', { name: 'node-1' }).getAttribute('href')).to.equal(
      `/nodes/${idOf('node', 1)}`,
    );
    expect(await first.getByRole('link', { name: 'val/loss' }).getAttribute('href')).to.equal(
      `/runs/${TRAINING.id}`,
    );
    const free = list.getByRole('listitem').filter({ hasText: 'notebook' });
    await free.getByText('Run without a job').waitFor();
    await free.getByText('step 12').waitFor();
  });

  it('shows jobs that a node is starting', async () => {
    const starting = job(4, {
      status: 'DISPATCHING',
      started_at: null,
      dispatched_at: NOW,
      node_id: idOf('node', 1),
    });
    const page = await mount({
      'GET /status': status({ DISPATCHING: 1 }),
      'GET /jobs': jobsOf([starting]),
    });
    await page.getByRole('list', { name: 'What runs' }).getByText('Starting').waitFor();
  });

  it('shows what waits in the order of the queue, and why', async () => {
    const page = await mount();
    const list = page.getByRole('list', { name: 'What waits' });
    await list.waitFor();
    expect(await list.getByRole('link').allInnerTexts()).to.deep.equal(['job-3', 'job-2']);
    await list.getByText('needs 4 GPUs: the largest online node has 2').waitFor();
    await list.getByText('priority 5').waitFor();
    expect(await list.getByRole('link', { name: 'job-3' }).getAttribute('href')).to.equal(
      `/jobs/${idOf('job', 3)}`,
    );
  });

  it('leads on to all that runs and waits when there is more', async () => {
    const jobs = Array.from({ length: 30 }, (_, at) => job(at + 1));
    const queued = jobs.map((each) => ({ ...each, status: 'QUEUED' as const, pending_reason: 'waiting' }));
    await mount({
      'GET /status': status({ RUNNING: 30, QUEUED: 1200 }, { total: 1, online: 1 }, jobs),
      'GET /jobs': jobsOf(queued),
      'GET /runs': { items: [] },
    });
    await region('Running').getByRole('link', { name: 'Show all 30' }).waitFor();
    expect(await region('Running').getByRole('listitem').count()).to.equal(10);
    expect(
      await region('Waiting').getByRole('link', { name: 'Show all 1,200' }).getAttribute('href'),
    ).to.equal('/jobs?status=QUEUED');
  });

  it('shows the jobs first, and leads to all runs where some have no job', async () => {
    const jobs = Array.from({ length: 8 }, (_, at) => job(at + 1, { started_at: NOW - 60 * MINUTE }));
    const runs = Array.from({ length: 4 }, (_, at) =>
      run(at + 1, { name: `notebook-${at}`, started_at: NOW - at }),
    );
    await mount({
      'GET /status': status({ RUNNING: 8 }, { total: 1, online: 1 }, jobs),
      'GET /runs': { items: runs },
    });
    const all = region('Running').getByRole('link', { name: 'Show all 12' });
    expect(await all.getAttribute('href')).to.equal('/runs?status=RUNNING');
    const shown = await region('Running').getByRole('listitem').allInnerTexts();
    expect(shown.map((text) => /(job|notebook)-\d/.exec(text)?.[1])).to.deep.equal([
      ...Array.from({ length: 8 }, () => 'job'),
      'notebook',
      'notebook',
    ]);
  });

  it('says so when nothing runs or waits', async () => {
    const page = await mount({ 'GET /status': status({ SUCCEEDED: 3 }), 'GET /runs': { items: [] } });
    await page.getByText('Nothing runs now.').waitFor();
    await page.getByText('No job waits.').waitFor();
  });

  it('shows the latest events, and new ones as they happen', async () => {
    await mount();
    await region('Latest events').getByText('Job job-1 started').waitFor();
    await stage.push('/events/stream', [event(2, { title: 'a disk is full', created_at: NOW })]);
    await region('Latest events').getByText('a disk is full').waitFor();
  });

  it('reads again when something has happened', async () => {
    const page = await mount();
    await page.getByRole('link', { name: 'job-3' }).waitFor();
    stage.api.change({
      'GET /status': status({ RUNNING: 1 }, { total: 2, online: 2 }, [RUNNING]),
      'GET /jobs': jobsOf([]),
    });
    await stage.push('/events/stream', [event(2, { job_id: idOf('job', 3) })]);
    await page.getByText('No job waits.').waitFor();
  });

  it('reads anew why jobs wait when a node comes or goes, before it would by itself', async () => {
    const page = await mount();
    const reason = 'waiting for 1 free GPU behind 1 job';
    await page.getByText(reason).waitFor();
    const [first, ...others] = NODES;
    stage.api.change({
      'GET /nodes': { items: [{ ...first!, connected_at: null }, ...others] },
      'GET /jobs': jobsOf([job(2, { status: 'QUEUED', pending_reason: 'node-1 is disconnected' })]),
    });
    await stage.push('/events/stream', [event(2, { node_id: first!.id })]);
    await page.getByText('node-1 is disconnected').waitFor({ timeout: 5000 });
  });

  it('says how to begin where nothing is', async () => {
    const page = await stage.mount('svc-overview-page', {
      api: { 'GET /status': status({}, { total: 0, online: 0 }) },
    });
    await page.getByRole('heading', { name: 'Nothing has run here yet' }).waitFor();
    await page.getByText('svc token create --name gpu-1 --scope agent').waitFor();
    await page.getByText('on the host of the server (with the --data-dir of the server').waitFor();
    await page.getByText('SVC_TOKEN=TOKEN svc agent --url http://localhost').waitFor();
    for (const [name, href] of [
      ['Tokens', '/tokens?new=1'],
      ['Submit a job', '/jobs/new'],
    ] as const)
      expect(await page.getByRole('link', { name }).getAttribute('href')).to.equal(href);
    await page.getByText('svc submit --follow -- python3 train.py').waitFor();
    expect(await page.getByRole('button', { name: 'Copy' }).count()).to.equal(3);
    await stage.screenshot('overview-empty');
    await stage.expectSound();
  });

  it('asks for a first job alone where a node has connected', async () => {
    const page = await stage.mount('svc-overview-page', { api: { 'GET /nodes': { items: [node(1)] } } });
    await page.getByRole('link', { name: '1 node' }).waitFor();
    expect(await page.getByText('svc token create').count()).to.equal(0);
    await page.getByText('svc submit --follow').waitFor();
  });

  it('says that it could not be loaded, and tries again when asked', async () => {
    const page = await mount({ 'GET /status': OFFLINE });
    await page.getByRole('heading', { name: 'The overview could not be loaded' }).waitFor();
    stage.api.change({ 'GET /status': LIVELY['GET /status']! });
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'job-3' }).waitFor();
  });

  it('keeps what it has when a refresh fails, and says so', async () => {
    const page = await mount();
    await page.getByRole('link', { name: 'job-3' }).waitFor();
    stage.api.change({ 'GET /nodes': OFFLINE });
    await stage.push('/events/stream', [event(2, { node_id: idOf('node', 1) })]);
    await page.getByText('This may be out of date.').waitFor();
    await cell(/^node-1, GPU 0/).waitFor();
  });

  it('keeps how far a run is while the server does not answer, and leaves out what was deleted', async () => {
    const page = await mount();
    const ofRunning = event(2, { job_id: RUNNING.id });
    await page.getByText('val/loss').waitFor();
    stage.api.change({ 'GET /runs/{run_id}/summary': OFFLINE });
    await stage.push('/events/stream', [ofRunning]);
    await page.getByText('This may be out of date.').waitFor();
    for (const text of ['val/loss', '0.125', '400 / 1,000'])
      expect(await page.getByText(text).count(), text).to.equal(1);
    const gone = new Refusal(404, 'not_found', 'no such run');
    stage.api.change({ 'GET /runs/{run_id}/summary': gone });
    await page.getByText('val/loss').waitFor({ state: 'detached' });
    await page.getByText('This may be out of date.').waitFor({ state: 'detached' });
  });

  it('is the same for a token that can only read', async () => {
    await mount({}, { canWrite: false });
    await cell(/^node-1, GPU 0/).waitFor();
    await stage.expectSound();
  });

  for (const theme of ['light', 'dark'] as const) {
    for (const [where, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      it(`is sound on a ${where}, ${theme}, with 50 nodes of 8 GPUs and hostile names`, async () => {
        const all = cluster();
        const names = [HOSTILE, LONG_NAME];
        const jobs = Array.from({ length: 9 }, (_, at) =>
          job(at + 1, {
            name: names[at] ?? `train-${at}`,
            node_id: all[at]!.id,
            gpu_indices: [0, 1],
            run_id: at < 5 ? idOf('run', at + 1) : null,
          }),
        );
        await mount(
          {
            'GET /status': status({ RUNNING: 9, QUEUED: 2 }, { total: 50, online: 48 }, jobs),
            'GET /nodes': { items: all },
            'GET /jobs': jobsOf(
              names.map((name, at) =>
                job(20 + at, { status: 'QUEUED', name, pending_reason: `waits: ${name}` }),
              ),
            ),
            'GET /runs/{run_id}/summary': ({ params }: ApiRequest) =>
              summary(run(1, { id: params['run_id']!, step: 400, max_steps: 1000 }), {
                [`${LONG_NAME}/loss`]: metric({ is_primary: true }),
              }),
            'GET /events': eventsOf([
              failed(1, { title: `Job ${HOSTILE} failed`, message: LONG_NAME }),
              event(2, {
                severity: 'critical',
                type: 'OOM',
                title: LONG_NAME,
                message: HOSTILE,
                created_at: NOW,
              }),
            ]),
          },
          { viewport, theme },
        );
        await cell(/^gpu-50, GPU 7/).waitFor();
        await stage.page.getByText(LONG_NAME).first().waitFor();
        expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
        await stage.screenshot(`overview-many-${where}-${theme}`);
        await stage.expectSound(`${where}, ${theme}`);
      });
    }
  }

  it('is sound with a few GPUs, in the dark and on a phone', async () => {
    for (const [theme, viewport] of [
      ['light', DESK],
      ['dark', DESK],
      ['light', PHONE],
    ] as const) {
      await mount(
        { 'GET /events': eventsOf([failed(1), event(2, { title: 'Job job-1 started', created_at: NOW })]) },
        { theme, viewport },
      );
      await cell(/^node-1, GPU 0/).waitFor();
      await stage.page.getByText('val/loss').waitFor();
      await stage.screenshot(`overview-${theme}-${viewport.width}`);
      await stage.expectSound(`${theme} ${viewport.width}`);
    }
  });
});
