import type { BestCheckpoint, Run, RunComparison } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import {
  HOSTILE,
  LONG_NAME,
  checkpoint,
  definition,
  experiment,
  idOf,
  project,
  run,
} from './harness/records.js';
import { PHONE, VIEWS, useStage } from './harness/stage.js';

/** In their order, the first one best. */
const rankingOf = (of: readonly Run[]): RunComparison => ({
  metric: 'val/loss',
  direction: 'minimize',
  protocol: null,
  tied_ids: [],
  next_actions: [],
  best_run_id: of[0]!.id,
  entries: of.map(({ id, name }, at) => ({
    run_id: id,
    name,
    best: 0.1 * (at + 1),
    best_source: 'training_fallback',
    step: 40,
    evaluation_id: null,
    rank: at + 1,
    is_best: at === 0,
    latest: 0.5,
  })),
});

describe('the page of projects', () => {
  const stage = useStage();
  const mount = (api: ApiTable, more: object = {}) => stage.mount('svc-projects-page', { api, ...more });

  it('lists them with their runs and leads to each', async () => {
    const page = await mount({
      'GET /projects': { items: [project(1, { description: 'Pictures of cats' }), project(2)] },
    });
    const link = page.getByRole('link', { name: 'project-1' });
    await link.waitFor();
    expect(await link.getAttribute('href')).to.equal(`/projects/${idOf('prj', 1)}`);
    await page.getByText('Pictures of cats').waitFor();
    expect(await page.getByText('3 runs').count()).to.equal(2);
  });

  it('creates one and goes to it', async () => {
    const page = await mount({ 'POST /projects': project(5) });
    await page.getByRole('button', { name: 'New project' }).click();
    await stage.expectSound('the form');
    await page.getByLabel('Name').fill(' vision ');
    await page.getByLabel('Description').fill('cats');
    await page.getByRole('button', { name: 'Create' }).click();
    await stage.untilEqual(() => new URL(stage.page.url()).pathname, `/projects/${idOf('prj', 5)}`);
    expect(stage.api.bodies).to.deep.equal([{ name: 'vision', description: 'cats' }]);
  });

  it('keeps the form open and says why the server refuses it', async () => {
    const page = await mount({
      'POST /projects': new Refusal(409, 'conflict', 'there is a project "vision" already'),
    });
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('vision');
    await stage.page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('there is a project "vision" already').waitFor();
    await page.getByRole('button', { name: 'Back' }).click();
    await stage.untilEqual(() => page.getByRole('dialog').count(), 0);
  });

  it('offers no way to create one to who can only read', async () => {
    const page = await mount({}, { canWrite: false });
    await page.getByRole('heading', { name: 'No projects yet' }).waitFor();
    expect(await page.getByRole('button', { name: 'New project' }).count()).to.equal(0);
    await stage.expectSound('empty');
  });

  it('says that they could not be loaded', async () => {
    const page = await mount({ 'GET /projects': OFFLINE });
    await page.getByRole('heading', { name: 'The projects could not be loaded' }).waitFor();
  });

  for (const [where, more] of Object.entries(VIEWS)) {
    it(`is sound on ${where} with hostile and long texts`, async () => {
      const items = [
        project(1, { name: HOSTILE, description: HOSTILE }),
        project(2, { name: LONG_NAME, description: LONG_NAME.repeat(4), run_count: 123_456 }),
      ];
      const page = await mount({ 'GET /projects': { items } }, more);
      await page.getByRole('link', { name: HOSTILE }).waitFor();
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      await stage.expectSound(where);
    });
  }
});

describe('the page of a project', () => {
  const stage = useStage();
  const API: ApiTable = {
    'GET /projects/{project_id}': project(1, { description: 'Pictures' }),
    'GET /experiments': ({ query }: ApiRequest) => ({
      items: query.get('project_id') === idOf('prj', 1) ? [experiment(1)] : [],
    }),
    'GET /experiments/{experiment_id}/runs': { items: [] },
  };
  const mount = (api: ApiTable = {}, more: object = {}) =>
    stage.mount('svc-project-page', {
      properties: { projectId: idOf('prj', 1) },
      api: { ...API, ...api },
      ...more,
    });

  it('shows what it is about, its experiments and the way to its runs', async () => {
    const page = await mount();
    await page.getByText('Pictures').waitFor();
    const link = page.getByRole('link', { name: 'experiment-1' });
    expect(await link.getAttribute('href')).to.equal(`/experiments/${idOf('exp', 1)}`);
    const runs = page.getByRole('link', { name: '3 runs' });
    expect(await runs.getAttribute('href')).to.equal(`/runs?project_id=${idOf('prj', 1)}`);
    await stage.expectSound();
  });

  describe('ranks', () => {
    const runs = [run(2), run(1)];
    const PRIMARY = { 'GET /metric-definitions': { items: [definition('val/loss', { is_primary: true })] } };

    it('the runs of each experiment, and names the best one', async () => {
      const page = await mount({
        ...PRIMARY,
        'GET /experiments/{experiment_id}/runs': { items: runs },
        'GET /runs/compare': rankingOf(runs),
      });
      const best = page.getByRole('link', { name: 'run-2' });
      expect(await best.getAttribute('href')).to.equal(`/runs/${idOf('run', 2)}`);
      await page.getByText(/Best run\s+run-2:\s+lowest\s+val\/loss\s+0.1/).waitFor();
      await best.click({ trial: true });
    });

    it('nothing without a primary metric, and asks for nothing', async () => {
      const page = await mount({ 'GET /experiments/{experiment_id}/runs': { items: runs } });
      await page.getByRole('link', { name: 'experiment-1' }).waitFor();
      await stage.untilEqual(() => stage.api.count('GET /metric-definitions'), 1);
      expect(stage.api.count('GET /runs/compare')).to.equal(0);
    });

    it('the runs that belong to no experiment', async () => {
      const outside = [run(4, { experiment_id: null }), run(3, { experiment_id: null })];
      const page = await mount({
        ...PRIMARY,
        'GET /runs': { items: [...outside, run(1, { experiment_id: idOf('exp', 1) })] },
        'GET /runs/compare': { ...rankingOf(outside), tied_ids: outside.map(({ id }) => id) },
      });
      await page.getByRole('heading', { name: 'Runs without an experiment' }).waitFor();
      const values = page.locator('svc-experiment-run .value');
      const texts = async () => (await values.allInnerTexts()).map((text) => text.trim());
      await stage.untilEqual(texts, ['tied 0.1', 'tied 0.2']);
      expect(stage.api.requests).to.include(`GET /runs?project_id=${idOf('prj', 1)}&limit=200`);
      await stage.expectSound();
    });
  });

  it('is renamed', async () => {
    const page = await mount({ 'PATCH /projects/{project_id}': project(1, { name: 'speech' }) });
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await page.getByLabel('Name').first().inputValue()).to.equal('project-1');
    await page.getByLabel('Name').first().fill('speech');
    stage.api.change({ 'GET /projects/{project_id}': project(1, { name: 'speech' }) });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'speech' }).waitFor();
    expect(stage.api.bodies).to.deep.equal([{ name: 'speech', description: 'Pictures' }]);
  });

  it('is deleted after a question', async () => {
    const page = await mount({ 'DELETE /projects/{project_id}': project(1) });
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await stage.page.getByRole('button', { name: 'Keep it' }).click();
    expect(stage.api.count('DELETE')).to.equal(0);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await stage.page.getByRole('button', { name: 'Delete the project' }).click();
    await stage.untilEqual(() => new URL(stage.page.url()).pathname, '/projects');
  });

  it('stays where it is when the server does not delete it', async () => {
    const page = await mount({
      'DELETE /projects/{project_id}': new Refusal(409, 'conflict', 'it has 3 runs'),
    });
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await stage.page.getByRole('button', { name: 'Delete the project' }).click();
    await stage.untilEqual(() => stage.api.count('DELETE'), 1);
    await page.getByRole('heading', { level: 1, name: 'project-1' }).waitFor();
  });

  it('makes an experiment in it', async () => {
    const page = await mount({ 'POST /experiments': experiment(7) });
    await page.getByRole('button', { name: 'New experiment' }).click();
    await page.getByLabel('Name').last().fill('first');
    await page.getByRole('button', { name: 'Create' }).click();
    await stage.untilEqual(() => new URL(stage.page.url()).pathname, `/experiments/${idOf('exp', 7)}`);
    expect(stage.api.bodies[0]).to.deep.include({ name: 'first', project_id: idOf('prj', 1) });
  });

  it('offers no change to who can only read, and says how an experiment begins', async () => {
    const page = await mount({ 'GET /experiments': { items: [] } }, { canWrite: false });
    await page.getByRole('heading', { name: 'No experiments in this project yet' }).waitFor();
    for (const name of ['Edit', 'Delete', 'New experiment'])
      expect(await page.getByRole('button', { name }).count(), name).to.equal(0);
    await stage.expectSound();
  });

  it('says that there is no such project', async () => {
    const page = await mount({ 'GET /projects/{project_id}': new Refusal(404, 'not_found', 'none') });
    await page.getByRole('heading', { name: 'Project not found' }).waitFor();
  });
});

describe('the page of an experiment', () => {
  const stage = useStage();
  const runs = [run(2, { status: 'SUCCEEDED', step: 90 }), run(1, { status: 'SUCCEEDED' })];
  const { is_best: _isBest, ...saved } = checkpoint(3);
  const best: BestCheckpoint = {
    checkpoint_id: saved.id,
    checkpoint: saved,
    run_id: saved.run_id,
    metric: 'val/loss',
    direction: 'minimize',
    value: 0.1,
    step: 300,
    value_step: 300,
    source: 'evaluation',
    evaluation_id: idOf('eval', 1),
    tied_checkpoint_ids: [saved.id],
    next_actions: [],
  };
  const API: ApiTable = {
    'GET /experiments/{experiment_id}': experiment(1),
    'GET /projects/{project_id}': project(1),
    'GET /experiments/{experiment_id}/runs': { items: runs },
    'GET /runs/{run_id}': run(1),
    'GET /experiments/{experiment_id}/best-checkpoint': best,
    'GET /runs/compare': rankingOf(runs),
    'GET /metric-definitions': { items: [definition('val/loss', { is_primary: true })] },
  };
  const mount = (api: ApiTable = {}, more: object = {}) =>
    stage.mount('svc-experiment-page', {
      properties: { experimentId: idOf('exp', 1) },
      api: { ...API, ...api },
      ...more,
    });

  it('shows its runs, the best one, and the best checkpoint with the reason', async () => {
    const page = await mount();
    await page.getByText('The lowest val/loss, 0.1, of 2 runs.').waitFor();
    await page
      .getByText(/Best of this experiment: the lowest val\/loss, 0.1,\s+by its evaluation at step 300, of/)
      .waitFor();
    await page.locator('svc-best-checkpoint').getByRole('link', { name: 'run-1', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'checkpoint-3' }).getAttribute('href')).to.equal(
      `/checkpoints/${saved.id}`,
    );
    await stage.untilEqual(
      async () =>
        (await page.locator('svc-experiment-run .value').allInnerTexts()).map((text) => text.trim()),
      ['best 0.1', '0.2'],
    );
  });

  it('sorts its runs by rank, as the address keeps, and by age again', async () => {
    const page = await mount({ 'GET /runs/compare': rankingOf([...runs].reverse()) });
    const names = () => page.locator('svc-experiment-run .name').allInnerTexts();
    await stage.untilEqual(names, ['run-2', 'run-1']);
    await page.getByRole('button', { name: 'Best first' }).click();
    await stage.untilEqual(names, ['run-1', 'run-2']);
    expect(new URL(stage.page.url()).search).to.equal('?sort=best');
    await stage.page.goBack();
    await stage.untilEqual(names, ['run-2', 'run-1']);
  });

  it('says of runs that tie that they do, as a comparison does', async () => {
    const page = await mount({
      'GET /runs/compare': { ...rankingOf(runs), tied_ids: runs.map(({ id }) => id) },
    });
    await page.getByText('of 2 runs, tied with 1 other.').waitFor();
    await stage.untilEqual(() => page.locator('svc-experiment-run .pill').allInnerTexts(), ['tied', 'tied']);
    await page.getByRole('columnheader', { name: 'Best val/loss' }).waitFor();
    await stage.page.setViewportSize(PHONE);
    await page.locator('svc-experiment-run .value').first().getByText('val/loss').waitFor();
    await stage.expectSound();
  });

  it('leads to a comparison of all its runs', async () => {
    const page = await mount();
    const link = page.getByRole('link', { name: 'Compare them all' });
    const wanted = new URLSearchParams({ runs: runs.map(({ id }) => id).join(',') });
    expect(await link.getAttribute('href')).to.equal(`/compare?${wanted.toString()}`);
  });

  it('compares the newest 50 of many', async () => {
    const items = Array.from({ length: 60 }, (_, at) => run(60 - at));
    const page = await mount({
      'GET /experiments/{experiment_id}/runs': { items },
      'GET /runs/compare': ({ query }: ApiRequest) => {
        const ids = query.get('ids')!.split(',');
        return rankingOf(items.filter(({ id }) => ids.includes(id)));
      },
    });
    await page.getByText('of 50 runs, the newest').waitFor();
    const href = await page.getByRole('link', { name: 'Compare the newest 50' }).getAttribute('href');
    expect(new URLSearchParams(href!.split('?')[1]).get('runs')!.split(',')).to.have.length(50);
  });

  it('says why there is no best run and no best checkpoint', async () => {
    const refuse = (message: string) => new Refusal(404, 'not_found', message);
    const page = await mount({
      'GET /experiments/{experiment_id}/best-checkpoint': refuse('no primary metric is set'),
      'GET /runs/compare': new Refusal(422, 'validation_error', 'give a metric'),
    });
    await page.getByText('no primary metric is set').waitFor();
    await page.getByText('give a metric').waitFor();
    await stage.expectSound();
  });

  it('says where to set a primary metric while there is none, and asks for nothing that is ranked by it', async () => {
    const api = { 'GET /metric-definitions': { items: [definition('val/loss')] } };
    const page = await mount(api);
    const links = page.getByRole('link', { name: 'Set one in the settings' });
    await stage.untilEqual(() => links.count(), 2);
    expect(await links.first().getAttribute('href')).to.equal(
      `/settings?project_id=${idOf('prj', 1)}&experiment_id=${idOf('exp', 1)}`,
    );
    expect(stage.api.count('GET /runs/compare')).to.equal(0);
    expect(stage.api.requests.filter((request) => request.includes('best-checkpoint'))).to.deep.equal([]);
    await stage.expectSound();
    await mount(api, { canWrite: false });
    await page.getByRole('link', { name: 'See the metrics' }).first().waitFor();
  });

  it('is renamed and deleted by who may write alone', async () => {
    const page = await mount({}, { canWrite: false });
    await page.getByRole('heading', { level: 1, name: 'experiment-1' }).waitFor();
    expect(await page.getByRole('button', { name: /Edit|Delete/ }).count()).to.equal(0);
  });

  it('goes back to its project once it is deleted', async () => {
    const page = await mount({ 'DELETE /experiments/{experiment_id}': experiment(1) });
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await stage.page.getByRole('button', { name: 'Delete the experiment' }).click();
    await stage.untilEqual(() => new URL(stage.page.url()).pathname, `/projects/${idOf('prj', 1)}`);
  });

  it('says how a run begins in it', async () => {
    const page = await mount({
      'GET /experiments/{experiment_id}': experiment(1, { run_count: 0 }),
      'GET /experiments/{experiment_id}/runs': { items: [] },
      'GET /experiments/{experiment_id}/best-checkpoint': new Refusal(404, 'not_found', 'without runs'),
    });
    await page.getByRole('heading', { name: 'No runs in this experiment yet' }).waitFor();
    expect(await page.getByText('Best run').count()).to.equal(0);
    await stage.expectSound();
  });

  for (const [where, more] of Object.entries(VIEWS)) {
    it(`is sound on ${where} with hostile and long texts`, async () => {
      const odd = [run(2, { name: HOSTILE, step: 5, max_steps: 10 }), run(1, { name: LONG_NAME })];
      const page = await mount(
        {
          'GET /experiments/{experiment_id}': experiment(1, { name: LONG_NAME, description: HOSTILE }),
          'GET /projects/{project_id}': project(1, { name: 'w'.repeat(200) }),
          'GET /experiments/{experiment_id}/runs': { items: odd },
          'GET /runs/compare': { ...rankingOf(odd), metric: LONG_NAME },
          'GET /experiments/{experiment_id}/best-checkpoint': {
            ...best,
            metric: LONG_NAME,
            checkpoint: { ...saved, path: `/out/${LONG_NAME}` },
          },
        },
        more,
      );
      await page.locator('svc-experiment-run').getByRole('link', { name: HOSTILE }).waitFor();
      await page.locator('svc-best-checkpoint a').first().waitFor();
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      await stage.expectSound(where);
    });
  }
});
