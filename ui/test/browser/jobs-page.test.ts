import type { Job, JobStatus } from '@svc/contract';
import { until } from '@svc/hooks/testing';
import { expect } from 'chai';
import { Download, OFFLINE, Refusal, type ApiRequest } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, event, idOf, job, node, status } from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

const PAGE_SIZE = 200;

describe('the page of jobs', () => {
  const stage = useStage();
  const names = () => stage.page.locator('a.name').allInnerTexts();
  const untilNames = (...wanted: string[]) => stage.untilEqual(names, wanted);
  const chip = (name: string | RegExp) => stage.page.getByRole('button', { name });
  const answer = (...items: Job[]) => ({ items, next_before: null });

  it('holds the place of rows until they are there', async () => {
    let send = (_: object): void => {};
    const page = await stage.mount('svc-jobs-page', {
      properties: { query: '' },
      api: { 'GET /jobs': () => new Promise((resolve) => (send = resolve)) },
    });
    const panel = page.locator('section.panel');
    await page.locator('svc-skeleton').waitFor({ state: 'attached' });
    expect(await panel.getAttribute('aria-busy')).to.equal('true');
    expect(await page.getByText('No jobs yet').isVisible(), 'nothing is said before it is known').to.equal(
      false,
    );
    send(answer(job(1)));
    await untilNames('job-1');
    expect(await panel.getAttribute('aria-busy')).to.equal('false');
    expect(await page.locator('svc-skeleton').count()).to.equal(0);
  });

  it('says how to submit the first job when there is none', async () => {
    const page = await stage.mount('svc-jobs-page', { properties: { query: '' } });
    await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
    await page.getByText('svc submit --follow -- python3 train.py').waitFor();
    await stage.expectSound();
  });

  it('leads back to all jobs when the filter finds none', async () => {
    const page = await stage.mount('svc-jobs-page', { properties: { query: 'status=FAILED' } });
    await page.getByRole('heading', { name: 'No failed jobs' }).waitFor();
    expect(await page.getByRole('link', { name: 'Show all jobs' }).getAttribute('href')).to.equal('/jobs');
    expect(stage.api.requests).to.include(`GET /jobs?status=FAILED&limit=${PAGE_SIZE}`);
  });

  it('ignores a status in the address that is none', async () => {
    await stage.mount('svc-jobs-page', { properties: { query: 'status=BROKEN' } });
    await until(() => stage.api.requests.includes(`GET /jobs?limit=${PAGE_SIZE}`));
  });

  const failures: [string, Refusal, string][] = [
    ['cannot be reached', OFFLINE, 'The server does not answer'],
    [
      'has a defect',
      new Refusal(500, 'internal', 'An unexpected error (request 7).'),
      'An unexpected error (request 7).',
    ],
    ['is being stopped', new Refusal(503, 'unavailable', 'The database is busy.'), 'The database is busy.'],
  ];
  for (const [what, refusal, text] of failures) {
    it(`says so when the server ${what}, and tries again when asked`, async () => {
      const page = await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: { 'GET /jobs': refusal },
      });
      await page.getByRole('heading', { name: 'The jobs could not be loaded' }).waitFor();
      await page.getByText(text).waitFor();
      await stage.expectSound();
      stage.api.change({ 'GET /jobs': answer(job(1)) });
      await page.getByRole('button', { name: 'Try again' }).click();
      await untilNames('job-1');
      expect(await page.getByText(text).count()).to.equal(0);
    });
  }

  it('keeps what it has when a refresh fails, and says that it may be old', async () => {
    const page = await stage.mount('svc-jobs-page', {
      properties: { query: '' },
      api: { 'GET /jobs': answer(job(1)) },
    });
    await untilNames('job-1');
    stage.api.change({ 'GET /jobs': OFFLINE });
    await stage.push('/events/stream', [event(1, { job_id: idOf('job', 1) })]);
    await page.getByText('This may be out of date.').waitFor();
    expect(await names()).to.deep.equal(['job-1']);
    stage.api.change({ 'GET /jobs': answer(job(2), job(1)) });
    await page.getByRole('button', { name: 'Try again' }).click();
    await untilNames('job-2', 'job-1');
    await page.getByText('This may be out of date.').waitFor({ state: 'detached' });
  });

  for (const [what, body] of [
    ['an object without fields', '{}'],
    ['null', 'null'],
  ] as const)
    it(`says in words that ${what} is no answer of this server`, async () => {
      const strange = new Download(body);
      const api = {
        'GET /jobs': strange,
        'GET /status': strange,
        'GET /nodes': strange,
        'GET /projects': strange,
      };
      const page = await stage.mount('svc-jobs-page', { properties: { query: '' }, api });
      await page.getByText('The answer of the server cannot be read. Is a proxy in between').waitFor();
      stage.api.change({ 'GET /jobs': answer(job(1)), 'GET /status': status({ RUNNING: 1 }) });
      await page.getByRole('button', { name: 'Try again' }).click();
      await untilNames('job-1');
    });

  it('says that the address names a state that there is not, and shows all', async () => {
    await stage.mount('svc-jobs-page', {
      properties: { query: 'status=NOPE' },
      address: '/jobs?status=NOPE',
      api: { 'GET /jobs': answer(job(1)) },
    });
    await untilNames('job-1');
    const words = stage.page.getByText('there is no “NOPE”');
    await words.waitFor();
    await stage.expectSound();
    await chip('Show all').click();
    await words.waitFor({ state: 'detached' });
    expect(new URL(stage.page.url()).search).to.equal('');
  });

  describe('a change of the filter', () => {
    it('goes to the address and keeps the old rows, dimmed, until the new ones are there', async () => {
      let send = (_: object): void => {};
      const failed = () => new Promise<object>((resolve) => (send = resolve));
      const page = await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        address: '/jobs',
        api: {
          'GET /jobs': ({ query }: ApiRequest) =>
            query.get('status') === 'FAILED' ? failed() : answer(job(2), job(1)),
        },
      });
      await untilNames('job-2', 'job-1');
      await chip('Failed').click();
      expect(new URL(stage.page.url()).search).to.equal('?status=FAILED');
      expect(await chip('Failed').getAttribute('aria-pressed')).to.equal('true');
      expect(await page.locator('.items').getAttribute('class')).to.include('old');
      expect(await page.locator('section.panel').getAttribute('aria-busy')).to.equal('true');
      expect(await names()).to.deep.equal(['job-2', 'job-1']);
      send(answer(job(1, { status: 'FAILED' })));
      await untilNames('job-1');
      expect(await page.locator('.items').getAttribute('class')).not.to.include('old');
    });

    it('shows no rows of the old filter beside an error of the new one', async () => {
      const page = await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: { 'GET /jobs': ({ query }: ApiRequest) => (query.has('status') ? OFFLINE : answer(job(1))) },
      });
      await untilNames('job-1');
      await chip('Failed').click();
      await page.getByRole('heading', { name: 'The jobs could not be loaded' }).waitFor();
      expect(await names()).to.deep.equal([]);
      await chip('All').click();
      await untilNames('job-1');
    });

    it('drops an answer of the filter before', async () => {
      const sends = new Map<string | null, (body: object) => void>();
      await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: {
          'GET /jobs': ({ query }: ApiRequest) =>
            new Promise((resolve) => sends.set(query.get('status'), resolve as (body: object) => void)),
        },
      });
      await until(() => sends.has(null));
      await chip('Failed').click();
      await until(() => sends.has('FAILED'));
      sends.get('FAILED')!(answer(job(5, { status: 'FAILED' })));
      await untilNames('job-5');
      sends.get(null)!(answer(job(1)));
      await stage.push('/events/stream', []);
      expect(await names()).to.deep.equal(['job-5']);
    });

    it('is taken back by the back button, choice by choice, while all that is typed is no step', async () => {
      await stage.mount('svc-jobs-page', { properties: { query: '' }, address: '/jobs' });
      const search = () => stage.page.evaluate(() => location.search);
      await chip('Failed').click();
      await chip('Queued').click();
      await stage.page.getByRole('searchbox').fill('resnet');
      await stage.untilEqual(search, '?status=QUEUED&q=resnet');
      await stage.page.evaluate(() => history.back());
      await stage.untilEqual(search, '?status=FAILED');
      await stage.page.evaluate(() => history.back());
      await stage.untilEqual(search, '');
    });
  });

  describe('the choices of the filter', () => {
    const shownChips = async () =>
      (await stage.page.locator('svc-filters button').allInnerTexts()).map((text) => text.replace(/\s+/, ''));
    const count = (counts: Partial<Record<JobStatus, number>>) => ({ 'GET /status': status(counts) });
    const cases: [string, string, Partial<Record<JobStatus, number>>, string[]][] = [
      ['steady ones without a job', '', {}, ['All0', 'Running0', 'Queued0', 'Succeeded0', 'Failed0']],
      [
        'rare ones with a job',
        '',
        { DISPATCHING: 1, LOST: 2, CANCELLED: 3 },
        ['All6', 'Running0', 'Starting1', 'Queued0', 'Succeeded0', 'Failed0', 'Cancelled3', 'Lost2'],
      ],
      [
        'the one that is on',
        'status=LOST',
        {},
        ['All0', 'Running0', 'Queued0', 'Succeeded0', 'Failed0', 'Lost0'],
      ],
      [
        'large numbers in groups',
        '',
        { SUCCEEDED: 12_345 },
        ['All12,345', 'Running0', 'Queued0', 'Succeeded12,345', 'Failed0'],
      ],
    ];
    for (const [what, query, counts, chips] of cases) {
      it(`are ${what}`, async () => {
        await stage.mount('svc-jobs-page', { properties: { query }, api: count(counts) });
        await stage.untilEqual(shownChips, chips);
      });
    }
  });

  describe('older jobs', () => {
    const first = [job(500), job(499)];
    const older = job(20, { status: 'RUNNING' });
    const api = {
      'GET /jobs': ({ query }: ApiRequest) =>
        query.has('before') ? answer(older) : { items: first, next_before: first.at(-1)!.created_at },
    };
    const more = () => stage.page.getByRole('button', { name: 'Show older jobs' });

    it('come behind the last one by themselves when the end is near', async () => {
      await stage.mount('svc-jobs-page', { properties: { query: 'status=RUNNING' }, api });
      await untilNames('job-500', 'job-499', 'job-20');
      const before = String(first.at(-1)!.created_at);
      expect(stage.api.requests).to.include(`GET /jobs?status=RUNNING&before=${before}&limit=${PAGE_SIZE}`);
      expect(await more().count(), 'there are no more').to.equal(0);
    });

    it('stay when the newest ones are refreshed, and are refreshed one by one', async () => {
      await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: {
          ...api,
          'GET /jobs/{job_id}': ({ params }: ApiRequest) =>
            job(Number(params['job_id']!.slice(4)), { status: 'FAILED', name: 'changed' }),
        },
      });
      await untilNames('job-500', 'job-499', 'job-20');
      await stage.push('/events/stream', [
        event(1, { job_id: older.id }),
        event(2, { job_id: first[0]!.id }),
      ]);
      await untilNames('job-500', 'job-499', 'changed');
      expect(stage.api.count('GET /jobs/'), 'the newest are read as a list').to.equal(1);
    });

    it('leave the list when they no longer fit its filter', async () => {
      await stage.mount('svc-jobs-page', {
        properties: { query: 'status=RUNNING' },
        api: { ...api, 'GET /jobs/{job_id}': { ...older, status: 'SUCCEEDED' } },
      });
      await untilNames('job-500', 'job-499', 'job-20');
      await stage.push('/events/stream', [event(1, { job_id: older.id })]);
      await untilNames('job-500', 'job-499');
    });

    it('say that they could not be loaded, and can be asked for again', async () => {
      await stage.mountApp({
        address: '/jobs',
        api: {
          ...api,
          'GET /jobs': ({ query }: ApiRequest) =>
            query.has('before') ? OFFLINE : api['GET /jobs']({ query } as ApiRequest),
        },
      });
      await stage.page.locator('svc-toasts li.error').waitFor();
      expect(stage.api.count('GET /jobs?before'), 'asked once').to.equal(1);
      stage.api.change(api);
      await more().click();
      await untilNames('job-500', 'job-499', 'job-20');
    });

    it('are behind an answer that the server has cut, which is said', async () => {
      const page = await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: { 'GET /jobs': { items: [job(9)], next_before: job(9).created_at, truncated: true } },
      });
      await page.getByText('Fewer jobs than usual').waitFor();
      await more().waitFor();
      await stage.expectSound();
    });
  });

  it('shows a new job and a changed state when an event tells of them', async () => {
    const page = await stage.mount('svc-jobs-page', {
      properties: { query: '' },
      api: { 'GET /jobs': answer(job(1, { status: 'QUEUED' })) },
    });
    await page.locator('svc-job-row').getByText('Queued').waitFor();
    stage.api.change({ 'GET /jobs': answer(job(2), job(1)), 'GET /status': status({ RUNNING: 2 }) });
    await stage.push('/events/stream', [event(1, { job_id: idOf('job', 2) })]);
    await untilNames('job-2', 'job-1');
    await chip('Running 2').waitFor();
  });

  it('asks once for many events that come together', async () => {
    await stage.mount('svc-jobs-page', { properties: { query: '' }, api: { 'GET /jobs': answer(job(1)) } });
    await untilNames('job-1');
    const before = stage.api.count('GET /jobs');
    await stage.push(
      '/events/stream',
      Array.from({ length: 50 }, (_, at) => event(at, { job_id: idOf('job', 1) })),
    );
    await until(() => stage.api.count('GET /jobs') > before);
    await stage.push('/events/stream', []);
    expect(stage.api.count('GET /jobs') - before).to.equal(1);
  });

  it('does not ask when an event tells of no job and no node', async () => {
    await stage.mount('svc-jobs-page', { properties: { query: '' }, api: { 'GET /jobs': answer(job(1)) } });
    await untilNames('job-1');
    await stage.push('/events/stream', [event(1, { run_id: idOf('run', 1) })]);
    await stage.push('/events/stream', [event(2, { job_id: idOf('job', 1) })]);
    await until(() => stage.api.count('GET /jobs') === 2);
  });

  it('takes names as text, whatever is in them', async () => {
    const hostile = job(1, { name: HOSTILE, project: HOSTILE, status: 'QUEUED', pending_reason: HOSTILE });
    await stage.mount('svc-jobs-page', { properties: { query: '' }, api: { 'GET /jobs': answer(hostile) } });
    await untilNames(HOSTILE);
    expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
  });

  for (const [where, viewport] of Object.entries({ 'a desk': undefined, 'a phone': PHONE })) {
    it(`fits ${where} with very long texts`, async () => {
      const long = { name: LONG_NAME, project: LONG_NAME, experiment: LONG_NAME };
      await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: {
          'GET /jobs': answer(
            job(2, {
              ...long,
              status: 'FAILED',
              failure_message: `cannot open ${LONG_NAME}`,
              failure_reason: 'EXIT_CODE',
            }),
            job(1, { ...long, node_id: idOf('node', 1) }),
          ),
          'GET /nodes': { items: [node(1, { name: LONG_NAME })] },
        },
        ...(viewport && { viewport }),
      });
      await untilNames(LONG_NAME, LONG_NAME);
      await stage.expectSound(where);
    });
  }

  const summaries: [string, { total: number; online: number }, string][] = [
    ['no node', { total: 0, online: 0 }, 'No node has connected yet'],
    ['one node', { total: 1, online: 1 }, '1 of 1 node online'],
    ['some nodes', { total: 3, online: 2 }, '2 of 3 nodes online'],
  ];
  for (const [what, nodes, text] of summaries) {
    it(`says above the list what ${what} can do`, async () => {
      const page = await stage.mount('svc-jobs-page', {
        properties: { query: '' },
        api: { 'GET /status': status({}, nodes) },
      });
      await page.getByText(text, { exact: true }).waitFor();
    });
  }
});
