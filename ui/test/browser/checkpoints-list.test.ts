import type { CheckpointComparison } from '@svc/contract';
import { expect } from 'chai';
import { Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { bestCheckpoint, plainCheckpoint } from './harness/checkpoint-records.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  definition,
  evaluation,
  experiment,
  idOf,
  project,
  run,
} from './harness/records.js';
import { VIEWS, useStage } from './harness/stage.js';

const RUN: ApiTable = { 'GET /runs/{run_id}': run(1) };

describe('the page of checkpoints', () => {
  const stage = useStage();
  const comparison: CheckpointComparison = {
    metric: 'val/loss',
    direction: 'minimize',
    protocol: { suite: 'heldout', dataset: null, dataset_version: null },
    tied_ids: [idOf('ckpt', 2)],
    next_actions: [],
    best_checkpoint_id: idOf('ckpt', 2),
    entries: [2, 1].map((number, at) => ({
      checkpoint_id: idOf('ckpt', number),
      run_id: idOf('run', 1),
      name: `checkpoint-${number}`,
      best: 0.1 * (at + 1),
      best_source: at === 0 ? 'evaluation' : 'training_fallback',
      step: number * 100,
      evaluation_id: null,
      rank: at + 1,
      is_best: at === 0,
      latest: null,
    })),
  };
  const mount = (items: object[], query = '', api: ApiTable = {}, more: object = {}) =>
    stage.mount('svc-checkpoints-page', {
      properties: { query },
      address: `/checkpoints?${query}`,
      api: {
        ...RUN,
        'GET /checkpoints': { items },
        'GET /checkpoints/compare': comparison,
        'GET /metric-definitions': {
          items: [
            definition('val/loss', { is_primary: true }),
            definition('val/acc'),
            definition('lr', { guessed: true, guessed_from: null }),
          ],
        },
        ...api,
      },
      ...more,
    });

  const param = (name: string) => new URL(stage.page.url()).searchParams.get(name);

  it('lists those of all runs with the names of their runs', async () => {
    const page = await mount([
      plainCheckpoint(2, { metadata: { evaluations: [evaluation(1)] } }),
      plainCheckpoint(1, { deleted_at: NOW - MINUTE }),
    ]);
    const row = page.locator('svc-checkpoint-row').first();
    await row.getByRole('link', { name: 'run-1' }).waitFor();
    expect(await row.getByRole('link', { name: 'checkpoint-2' }).getAttribute('href')).to.equal(
      `/checkpoints/${idOf('ckpt', 2)}`,
    );
    expect(await row.getByText('evaluated').getAttribute('title')).to.equal('1 evaluation');
    await page.locator('svc-checkpoint-row').nth(1).getByText('deleted').waitFor();
    expect(stage.api.count('GET /runs/')).to.equal(1);
    await stage.expectSound();
  });

  it('lists those of one run, and recommends the best with the reason', async () => {
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)], `run_id=${idOf('run', 1)}`, {
      'GET /checkpoints:recommend': bestCheckpoint(2),
    });
    await page
      .getByText(
        /the lowest val\/loss, 0.125,\s+which the training logged at step 180, and this is the next checkpoint, at step 200\.\s+No evaluation has measured val\/loss\./,
      )
      .waitFor();
    await page.getByTitle('The lowest val/loss of this run').waitFor();
    expect(stage.api.requests.find((one) => one.startsWith('GET /checkpoints?'))).to.include('run_id=');
    expect(await page.getByRole('combobox', { name: 'project' }).count()).to.equal(0);
    await stage.expectSound();
  });

  it('compares those that are chosen', async () => {
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)], '', {
      'GET /checkpoints/compare': comparison,
    });
    await page.getByRole('checkbox', { name: 'Compare checkpoint-1' }).check();
    await page.getByText('Choose one more').waitFor();
    await page.getByRole('checkbox', { name: 'Compare checkpoint-2' }).check();
    const rows = page.locator('svc-checkpoint-comparison tbody tr');
    await stage.untilEqual(() => rows.count(), 2);
    await rows.first().getByText('best').waitFor();
    await page.getByText('The evaluations are those of heldout.').waitFor();
    expect(new URL(stage.page.url()).searchParams.get('compare')).to.equal(
      `${idOf('ckpt', 1)},${idOf('ckpt', 2)}`,
    );
    await stage.expectSound('compared');
    await page.getByLabel('Metric', { exact: true }).selectOption('val/acc');
    await stage.untilEqual(
      () => stage.api.requests.filter((one) => one.includes('/compare?') && one.includes('val%2Facc')).length,
      2,
    );
    await page.getByRole('button', { name: 'Take checkpoint-1 out' }).click();
    await page.getByText('Choose one more').waitFor();
  });

  it('say how many share the best value, and of which run the primary metric is', async () => {
    const entries = comparison.entries.map((entry) => ({ ...entry, best: 0.1 }));
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)], '', {
      'GET /checkpoints/compare': { ...comparison, entries },
    });
    await page.getByRole('columnheader', { name: 'Best val/loss', exact: true }).waitFor();
    await page.getByText('2 checkpoints have this value.').waitFor();
    expect(await page.getByLabel('Metric', { exact: true }).locator('option').first().innerText()).to.equal(
      'val/loss (newest run)',
    );
  });

  it('have their values of the primary metric, the best one marked', async () => {
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)]);
    const value = (at: number) => page.locator('svc-checkpoint-row').nth(at).locator('.value');
    await page.getByRole('columnheader', { name: 'val/loss' }).waitFor();
    await stage.untilEqual(() => value(0).locator('b').allInnerTexts(), ['0.1']);
    await value(1).getByText('0.2').waitFor();
    expect(await value(1).locator('b').count()).to.equal(0);
    await page.getByTitle('The lowest val/loss of those listed').waitFor();
    expect(await value(1).locator('[title]').getAttribute('title')).to.equal(
      'Logged by the training at step 100',
    );
    await page.getByText('Tick two or more checkpoints to compare them.').waitFor();
    await stage.expectSound();
  });

  for (const width of [900, 1000, 1280])
    it(`stay inside their card in a window of ${width} px`, async () => {
      const items = [plainCheckpoint(2, { path: `/out/${LONG_NAME}` }), plainCheckpoint(1)];
      const page = await mount(items, '', {}, { viewport: { width, height: 800 } });
      // Of the navigation.
      await stage.page.evaluate(() => (document.body.style.marginLeft = '14rem'));
      await page.getByText('0.2').waitFor();
      await stage.expectSound();
    });

  it('have their values of the metric that is chosen', async () => {
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)]);
    await page.getByRole('columnheader', { name: 'val/loss' }).waitFor();
    stage.api.change({ 'GET /checkpoints/compare': { ...comparison, metric: 'lr' } });
    await page.getByLabel('Metric', { exact: true }).selectOption('val/acc');
    await page.getByRole('columnheader', { name: 'val/acc' }).waitFor();
    expect(param('metric')).to.equal('val/acc');
    await stage.untilEqual(() => stage.api.requests.at(-1)?.includes('metric=val%2Facc'), true);
    await stage.page.goBack();
    await page.getByRole('columnheader', { name: 'val/loss' }).waitFor();
  });

  it('offer what evaluations have measured, and no metric without a direction', async () => {
    const measured = evaluation(1, { metrics: { 'heldout/f1': 0.5, spread: 1 } });
    const page = await mount([plainCheckpoint(2, { metadata: { evaluations: [measured] } })]);
    const metric = page.getByLabel('Metric', { exact: true });
    await metric.locator('option', { hasText: 'heldout/f1' }).waitFor({ state: 'attached' });
    const off = metric.locator('option:disabled');
    await stage.untilEqual(
      async () => (await off.allTextContents()).map((text) => text.trim()),
      ['lr (no direction)', 'spread (no direction)'],
    );
  });

  it('are filtered by project, experiment and words, as the address says', async () => {
    const page = await mount([plainCheckpoint(1)], `q=old&project_id=${idOf('prj', 1)}`, {
      'GET /projects': { items: [project(1)] },
      'GET /experiments': { items: [experiment(1)] },
      'GET /checkpoints:recommend': bestCheckpoint(1),
    });
    const asked = () => stage.api.requests.findLast((one) => one.startsWith('GET /checkpoints?'))!;
    const search = page.getByRole('searchbox', { name: 'Search by name or run' });
    expect(await search.inputValue()).to.equal('old');
    expect(asked())
      .to.include(`project_id=${idOf('prj', 1)}`)
      .and.to.include('q=old');
    await page.getByLabel('experiment').selectOption(idOf('exp', 1));
    await page.getByText(/Best of this experiment: the lowest val\/loss/).waitFor();
    await search.fill('best');
    await stage.untilEqual(() => param('q'), 'best');
    await stage.untilEqual(() => asked().includes('q=best') && asked().includes('experiment_id='), true);
    await stage.expectSound('filtered');
    stage.api.change({ 'GET /checkpoints': { items: [] } });
    await search.fill('nothing');
    await page.getByRole('heading', { name: 'No checkpoint fits' }).waitFor();
    await page.getByRole('link', { name: 'Show all checkpoints' }).waitFor();
    await stage.page.goBack();
    await stage.untilEqual(() => param('experiment_id'), null);
  });

  it('are sorted by their values and by their steps, as the address says', async () => {
    const items = [plainCheckpoint(1), plainCheckpoint(3, { step: null }), plainCheckpoint(2)];
    const page = await mount(items, 'sort=value');
    const names = () => page.locator('svc-checkpoint-row .name').allInnerTexts();
    await stage.untilEqual(names, ['checkpoint-2', 'checkpoint-1', 'checkpoint-3']);
    await page.getByLabel('Order').selectOption('');
    await stage.untilEqual(names, ['checkpoint-1', 'checkpoint-3', 'checkpoint-2']);
    await page.getByLabel('Order').selectOption('step');
    await stage.untilEqual(names, ['checkpoint-2', 'checkpoint-1', 'checkpoint-3']);
    expect(param('sort')).to.equal('step');
  });

  it('are asked for 50 at a time, and one alone with another', async () => {
    const items = Array.from({ length: 51 }, (_, at) => plainCheckpoint(51 - at));
    const asked: string[][] = [];
    await mount(items, '', {
      'GET /checkpoints/compare': ({ query }: ApiRequest) => {
        const ids = query.get('ids')!.split(',');
        asked.push(ids);
        const [entry] = comparison.entries;
        return { ...comparison, entries: ids.map((checkpoint_id) => ({ ...entry!, checkpoint_id })) };
      },
    });
    await stage.untilEqual(() => asked.map(({ length }) => length), [50, 2]);
    expect(asked[1]).to.deep.equal([idOf('ckpt', 1), idOf('ckpt', 51)]);
  });

  it('ask for a metric where none is primary, and the server for nothing', async () => {
    const query = `compare=${idOf('ckpt', 1)},${idOf('ckpt', 2)}`;
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)], query, {
      'GET /metric-definitions': { items: [definition('val/loss')] },
    });
    await page.getByText('choose one to see which checkpoint is best').waitFor();
    await page.getByText('Choose a metric below by which they are compared').waitFor();
    await page.getByRole('columnheader', { name: 'Value' }).waitFor();
    expect(stage.api.count('GET /checkpoints/compare')).to.equal(0);
    await stage.expectSound('without a metric');
  });

  it('say that nobody knows which values of the metric are good', async () => {
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)], 'metric=lr');
    await page.getByText('Nobody has said whether low or high values of lr are good').waitFor();
  });

  it('says why they cannot be compared', async () => {
    const refusal = new Refusal(422, 'validation_error', 'the evaluations are of several protocols');
    const query = `compare=${idOf('ckpt', 1)},${idOf('ckpt', 2)}`;
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)], query, {
      'GET /checkpoints/compare': refusal,
    });
    await page.getByText('They cannot be compared: the evaluations are of several protocols').waitFor();
    await page.getByText('The values could not be read: the evaluations are of several protocols').waitFor();
  });

  it('says how the first one is saved', async () => {
    const page = await mount([]);
    await page.getByRole('heading', { name: 'No checkpoints yet' }).waitFor();
    await stage.expectSound('empty');
  });

  for (const [where, more] of Object.entries(VIEWS)) {
    it(`is sound on ${where} with hostile and long texts`, async () => {
      const items = [
        plainCheckpoint(2, { path: `/out/${HOSTILE.replaceAll('/', '')}` }),
        plainCheckpoint(1, { path: `/${LONG_NAME}/${LONG_NAME}`, step: null, size: null }),
      ];
      const page = await mount(items, '', { 'GET /runs/{run_id}': run(1, { name: HOSTILE }) }, more);
      await page.locator('svc-checkpoint-row').first().getByRole('link', { name: HOSTILE }).last().waitFor();
      expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
      await stage.expectSound(where);
    });
  }
});
