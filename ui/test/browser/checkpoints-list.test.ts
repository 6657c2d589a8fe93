import type { CheckpointComparison } from '@svc/contract';
import { expect } from 'chai';
import { Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { bestCheckpoint, plainCheckpoint } from './harness/checkpoint-records.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  checkpoint,
  definition,
  evaluation,
  idOf,
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
        'GET /metric-definitions': { items: [definition('val/loss'), definition('lr')] },
        ...api,
      },
      ...more,
    });

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
    const page = await mount([], `run_id=${idOf('run', 1)}`, {
      'GET /runs/{run_id}/checkpoints': { items: [checkpoint(2, { is_best: true }), checkpoint(1)] },
      'GET /checkpoints:recommend': bestCheckpoint(2),
    });
    await page
      .getByText(
        /the lowest val\/loss, 0.125,\s+which the training logged at step 180, and this is the next checkpoint, at step 200\.\s+No checkpoint has been evaluated for it/,
      )
      .waitFor();
    await page.getByTitle('The best of its run').waitFor();
    expect(stage.api.count('GET /checkpoints?')).to.equal(0);
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
    await page.getByRole('textbox', { name: 'Metric' }).fill('eval/acc');
    await stage.page.keyboard.press('Enter');
    await stage.untilEqual(() => stage.api.requests.at(-1)?.includes('metric=eval%2Facc'), true);
    await page.getByRole('button', { name: 'Take checkpoint-1 out' }).click();
    await page.getByText('Choose one more').waitFor();
  });

  it('have their values of the primary metric, the best one in bold', async () => {
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)]);
    const value = (at: number) => page.locator('svc-checkpoint-row').nth(at).locator('.value');
    await page.getByRole('columnheader', { name: 'val/loss' }).waitFor();
    await stage.untilEqual(() => value(0).locator('b').allInnerTexts(), ['0.1']);
    await value(1).getByText('0.2').waitFor();
    expect(await value(1).locator('b').count()).to.equal(0);
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
    await page.getByLabel('Metric of the values').selectOption('lr');
    await page.getByRole('columnheader', { name: 'lr' }).waitFor();
    expect(new URL(stage.page.url()).searchParams.get('metric')).to.equal('lr');
    expect(stage.api.requests.at(-1)).to.include('metric=lr');
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

  it('ask for a metric where no primary one applies to all of them', async () => {
    const refusal = new Refusal(422, 'validation_error', 'no primary metric is set');
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)], '', {
      'GET /checkpoints/compare': refusal,
    });
    await page.getByText('choose a metric to see which is best').waitFor();
    await page.getByRole('columnheader', { name: 'Value' }).waitFor();
  });

  it('says why they cannot be compared', async () => {
    const refusal = new Refusal(422, 'validation_error', 'no primary metric is set');
    const query = `compare=${idOf('ckpt', 1)},${idOf('ckpt', 2)}`;
    const page = await mount([plainCheckpoint(2), plainCheckpoint(1)], query, {
      'GET /checkpoints/compare': refusal,
    });
    await page.getByText('They cannot be compared: no primary metric is set').waitFor();
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
