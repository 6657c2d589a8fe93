import type { Run, RunStatus } from '@svc/contract';
import { until } from '@svc/hooks/testing';
import { expect } from 'chai';
import { OFFLINE, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, MINUTE, NOW, event, idOf, run } from './harness/records.js';
import { EXPERIMENTS, PLACES, PROJECTS, mountRunsPage } from './harness/runs-world.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

describe('the page of runs', () => {
  const stage = useStage();
  /** The whole ones, of which a row may show start and end. */
  const names = () =>
    stage.page.locator('a.name').evaluateAll((links) => links.map((link) => link.getAttribute('title')));
  const untilNames = (...wanted: string[]) => stage.untilEqual(names, wanted);
  const mount = (items: readonly Run[], query?: string, api?: ApiTable) =>
    mountRunsPage(stage, items, query, api);
  const search = () => new URL(stage.page.url()).search;

  const rows: [string, Partial<Run>, string[]][] = [
    ['its progress', { step: 250, max_steps: 1000 }, ['250 / 1,000', '25 %']],
    ['that all its steps from 0 are done', { step: 299, max_steps: 300, status: 'SUCCEEDED' }, ['100 %']],
    ['its step when nobody knows the last one', { step: 250 }, ['step 250']],
    [
      'its project and experiment by name',
      { project_id: idOf('prj', 1), experiment_id: idOf('exp', 1) },
      ['vision', 'lr'],
    ],
    ['a project that is gone by the end of its id', { project_id: idOf('prj', 777) }, ['000777']],
    ['how long it took', { started_at: NOW - 5 * MINUTE, finished_at: NOW }, ['5m 00s']],
    ['that it is stale', { stale_since: NOW - 6 * MINUTE }, ['Stale']],
    ['that it was imported', { status: 'IMPORTED' }, ['Imported']],
    ['its tags', { tags: ['best', 'sweep'] }, ['best', 'sweep']],
  ];
  for (const [what, changes, texts] of rows) {
    it(`shows of a run ${what}`, async () => {
      const page = await mount([run(1, changes)]);
      for (const text of texts)
        await page.locator('.row.run').getByText(text, { exact: true }).first().waitFor();
    });
  }

  const empty: [string, string, string][] = [
    ['says how a run begins when there is none', '', 'No runs yet'],
    ['leads back when no run fits a status', 'status=FAILED', 'No runs match the filter'],
    ['leads back when no run has the words', 'q=nothing', 'No runs match the filter'],
    ['leads back when no run has the tag', 'tags=nothing', 'No runs match the filter'],
  ];
  for (const [what, query, headline] of empty) {
    it(what, async () => {
      const page = await mount([], query);
      await page.getByRole('heading', { name: headline }).waitFor();
      if (query !== '')
        expect(await page.getByRole('link', { name: 'Show all runs' }).getAttribute('href')).to.equal(
          '/runs',
        );
      await stage.expectSound(what);
    });
  }

  it('says that the runs could not be loaded', async () => {
    const page = await mount([], '', { 'GET /runs': OFFLINE });
    await page.getByRole('heading', { name: 'The runs could not be loaded' }).waitFor();
    stage.api.change({ 'GET /runs': { items: [run(1)] } });
    await page.getByRole('button', { name: 'Try again' }).click();
    await untilNames('run-1');
  });

  describe('its filters', () => {
    /** Answers runs whose name says what was asked for. */
    const echo: ApiTable = {
      'GET /runs': ({ query }: ApiRequest) => {
        query.delete('limit');
        query.delete('total');
        return { items: [run(1, { name: decodeURIComponent(query.toString()) || 'all' })] };
      },
    };

    const byAddress = [
      'status=FAILED',
      `project_id=${idOf('prj', 1)}`,
      `experiment_id=${idOf('exp', 2)}`,
      'q=lr',
      'tags=best',
    ];
    for (const query of byAddress) {
      it(`are taken from the address: ${query}`, async () => {
        await mount([], query, echo);
        await untilNames(query);
      });
    }

    it('are all applied together', async () => {
      await mount([], 'tags=best&q=lr&status=FAILED', echo);
      await untilNames('status=FAILED&q=lr&tags=best');
    });

    const statuses: [RunStatus, string][] = [
      ['RUNNING', 'Running'],
      ['SUCCEEDED', 'Succeeded'],
      ['FAILED', 'Failed'],
      ['CANCELLED', 'Cancelled'],
      ['IMPORTED', 'Imported'],
      ['LOST', 'Lost'],
    ];
    for (const [status, label] of statuses) {
      it(`have a choice for ${status}`, async () => {
        const page = await mount([], 'q=lr', echo);
        await page.getByRole('button', { name: label, exact: true }).click();
        await untilNames(`status=${status}&q=lr`);
        expect(
          await page.getByRole('button', { name: label, exact: true }).getAttribute('aria-pressed'),
        ).to.equal('true');
      });
    }

    it('offer the experiments with their projects, those of the chosen project alone, and forget the experiment with its project', async () => {
      const page = await mount([], `experiment_id=${idOf('exp', 2)}`, echo);
      const experiments = page.getByLabel('experiments');
      const options = async () =>
        (await experiments.locator('option').allInnerTexts()).map((text) => text.trim());
      await stage.untilEqual(options, ['All experiments', 'vision / lr (2)', 'speech / noise (1)']);
      await page.getByLabel('projects').selectOption({ label: 'vision (3)' });
      await untilNames(`project_id=${idOf('prj', 1)}`);
      await stage.untilEqual(options, ['All experiments', 'lr (2)']);
      await experiments.selectOption({ label: 'lr (2)' });
      await untilNames(`project_id=${idOf('prj', 1)}&experiment_id=${idOf('exp', 1)}`);
    });

    it('take a tag from a run or from the list, beside what is chosen already, and give it up again', async () => {
      const page = await mount([run(1, { tags: ['a/b c'] })], 'status=RUNNING');
      expect(await page.getByRole('link', { name: 'Tag a/b c' }).getAttribute('href')).to.equal(
        '/runs?status=RUNNING&tags=a%2Fb+c',
      );
      await page.getByLabel('tag', { exact: true }).selectOption('a/b c');
      await stage.untilEqual(search, '?status=RUNNING&tags=a%2Fb+c');
      await mount([], 'status=RUNNING&tags=a%2Fb+c', echo);
      await page.getByRole('button', { name: 'Tagged a/b c' }).click();
      await untilNames('status=RUNNING');
    });

    it('ask the server once the typing rests, and keep the old rows meanwhile', async () => {
      const page = await mount([], '', echo);
      await untilNames('all');
      const before = stage.api.count('GET /runs');
      const field = page.getByLabel('Search runs by name or id');
      await field.pressSequentially('resnet', { delay: 5 });
      expect(await names()).to.deep.equal(['all']);
      await untilNames('q=resnet');
      expect(stage.api.count('GET /runs') - before).to.be.at.most(2);
      expect(search()).to.equal('?q=resnet');
      expect(await field.inputValue()).to.equal('resnet');
      await field.fill('   ');
      await untilNames('all');
      expect(search()).to.equal('');
    });

    it('say when the server refuses one', async () => {
      const page = await mount([], 'status=BROKEN', {
        'GET /runs': ({ query }: ApiRequest) => {
          expect(query.get('status')).to.equal('BROKEN');
          return OFFLINE;
        },
      });
      await page.getByRole('heading', { name: 'The runs could not be loaded' }).waitFor();
    });
  });

  describe('older runs', () => {
    const older = run(1, { name: 'older' });
    const paged: ApiTable = {
      'GET /runs': ({ query }: ApiRequest) =>
        query.has('before') ? { items: [older] } : { items: [run(9), run(8)], truncated: true },
    };

    it('come by themselves when the end is near, behind the last one', async () => {
      await mount([], 'status=RUNNING', paged);
      await untilNames('run-9', 'run-8', 'older');
      expect(stage.api.requests).to.include(`GET /runs?status=RUNNING&before=${idOf('run', 8)}&limit=200`);
    });

    it('are asked for again by a button when they could not be loaded', async () => {
      const page = await mount([], '', {
        'GET /runs': ({ query }: ApiRequest) =>
          query.has('before') ? OFFLINE : { items: [run(9), run(8)], truncated: true },
      });
      const more = page.getByRole('button', { name: 'Show older runs' });
      await more.waitFor();
      const asked = stage.api.requests.filter((request) => request.includes('before=')).length;
      expect(asked).to.equal(1);
      stage.api.change(paged);
      await more.click();
      await untilNames('run-9', 'run-8', 'older');
    });

    it('are counted with the others, on all pages', async () => {
      const page = await mount([], 'status=RUNNING', {
        'GET /runs': ({ query }: ApiRequest) => ({
          ...(paged['GET /runs'] as (request: { query: URLSearchParams }) => object)({ query }),
          ...(query.has('total') && { total: 9000 }),
        }),
      });
      await page.getByText('9,000 runs', { exact: true }).waitFor();
      await untilNames('run-9', 'run-8', 'older');
      expect(await page.getByText('9,000 runs', { exact: true }).count()).to.equal(1);
    });

    it('stay away while runs are grouped, until they are asked for, and that is said', async () => {
      const page = await mount([], 'group=status', {
        'GET /runs': (request: ApiRequest) => ({
          ...(paged['GET /runs'] as (request: ApiRequest) => object)(request),
          total: 3,
        }),
      });
      await page.getByText('3 runs, the newest 2 of them grouped').waitFor();
      await page.getByRole('button', { name: 'Load all' }).click();
      await page.getByText('3 runs, grouped').waitFor();
      await untilNames('run-9', 'run-8', 'older');
      expect(await page.getByRole('button', { name: 'Load all' }).count()).to.equal(0);
    });

    it('are given up with another filter, whose page begins anew', async () => {
      const page = await mount([], '', paged);
      await untilNames('run-9', 'run-8', 'older');
      stage.api.change({ 'GET /runs': { items: [run(7)] } });
      await page.getByRole('button', { name: 'Running' }).click();
      await untilNames('run-7');
    });
  });

  it('says once that the address names a status that there is not, and shows all', async () => {
    const page = await mount([run(1)], 'status=NOPE&columns=tags');
    await untilNames('run-1');
    const words = page.getByText('there is no “NOPE”');
    await words.waitFor();
    expect(stage.api.requests.filter((request) => request.includes('NOPE'))).to.deep.equal([]);
    expect(await page.getByText('could not be loaded').count()).to.equal(0);
    await stage.expectSound();
    await page.getByRole('button', { name: 'Show all' }).click();
    await words.waitFor({ state: 'detached' });
    expect(search()).to.equal('?columns=tags');
  });

  it('shows a run that has begun', async () => {
    await mount([run(1)]);
    await untilNames('run-1');
    stage.api.change({ 'GET /runs': { items: [run(2), run(1)] } });
    await stage.push('/events/stream', [event(1, { run_id: idOf('run', 2), type: 'RUN_STARTED' })]);
    await untilNames('run-2', 'run-1');
  });

  it('takes texts as text', async () => {
    const hostile = run(1, {
      name: HOSTILE,
      tags: [HOSTILE, 'a,b'],
      notes: HOSTILE,
      config: { [HOSTILE]: HOSTILE },
    });
    const page = await mount(
      [hostile],
      `columns=tags,notes,config:${encodeURIComponent(HOSTILE)}&group=tags`,
    );
    await untilNames(HOSTILE, HOSTILE);
    expect(await page.getByRole('columnheader', { name: HOSTILE }).count()).to.equal(1);
    // Commas separate the tags of a filter, so that this one cannot be asked for.
    expect(await page.getByRole('link', { name: 'Tag a,b' }).count()).to.equal(0);
    expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
  });

  for (const [where, viewport] of Object.entries({ 'a desk': undefined, 'a phone': PHONE })) {
    it(`fits ${where} with very long texts, many tags and all filters`, async () => {
      const tags = Array.from({ length: 30 }, (_, at) => `tag-${at}-${LONG_NAME.slice(0, 60)}`);
      await stage.mount('svc-runs-page', {
        properties: { query: `tags=${LONG_NAME.slice(0, 90)}&q=lr` },
        api: {
          'GET /projects': { items: [{ ...PROJECTS[0]!, name: LONG_NAME }] },
          'GET /experiments': { items: EXPERIMENTS },
          'GET /runs': {
            items: [
              run(1, { name: LONG_NAME, project_id: idOf('prj', 1), step: 1e12, max_steps: 2e12, tags }),
            ],
          },
        },
        ...(viewport && { viewport }),
      });
      await untilNames(LONG_NAME);
      await until(async () => (await stage.page.getByText('50 %').count()) === 1);
      await stage.expectSound(where);
    });
  }

  it('loads by itself when the server is back', async () => {
    await mount([], '', { 'GET /runs': OFFLINE });
    await stage.page.getByRole('heading', { name: 'The runs could not be loaded' }).waitFor();
    stage.api.change({ 'GET /runs': { items: [run(1)] } });
    await stage.push('/events/stream', [event(1, { run_id: idOf('run', 1) })]);
    await untilNames('run-1');
  });

  for (const theme of ['light', 'dark'] as const) {
    for (const [where, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      it(`is sound in ${theme} on a ${where}`, async () => {
        const page = await stage.mount('svc-runs-page', {
          properties: { query: 'group=project&selected=run_1,run_2' },
          api: {
            ...PLACES,
            'GET /runs': {
              items: [run(2, { tags: ['a', 'b'], step: 3, max_steps: 9 }), run(1, { status: 'FAILED' })],
            },
          },
          viewport,
          theme,
        });
        await page.getByRole('link', { name: 'run-1', exact: true }).waitFor();
        await stage.expectSound(where);
        // The name stays while the rest is scrolled.
        const grid = stage.page.getByRole('grid', { name: 'Runs' });
        await grid.evaluate((box) => (box.scrollLeft = 400));
        const left = await page
          .getByRole('link', { name: 'run-1', exact: true })
          .evaluate((link) => link.getBoundingClientRect().left);
        expect(left).to.be.greaterThan(0);
      });
    }
  }
});
