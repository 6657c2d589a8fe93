import { until } from '@svc/hooks/testing';
import { expect } from 'chai';
import type { SvcChart } from '../../src/chart/svc-chart.js';
import { comparing, configured } from './harness/compare-world.js';
import { Refusal } from './harness/fake-api.js';
import { useStage } from './harness/stage.js';

describe('the charts of a comparison', () => {
  const stage = useStage();
  const { mount, param, colors, untilDrawn } = comparing(stage);
  const runs = [configured(1), configured(2), configured(3)];

  it('overlays each metric in a chart, with one colour for each run in all of them', async () => {
    await mount(runs);
    await stage.page.locator('svc-chart').nth(2).scrollIntoViewIfNeeded();
    await untilDrawn(3);
    expect(await stage.page.locator('svc-chart h3').allInnerTexts()).to.deep.equal([
      'val/loss',
      'val/accuracy',
      'lr',
    ]);
    const swatches = await colors();
    expect(new Set(swatches).size).to.equal(3);
    await stage.page.locator('svc-chart .u-over').first().hover();
    const tooltip = stage.page.locator('svc-chart .tooltip').first();
    await stage.untilEqual(
      async () =>
        (
          await tooltip
            .locator('.swatch')
            .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor))
        ).sort(),
      [...swatches].sort(),
    );
  });

  it('zooms to what is dragged in all charts, as the address says, and back', async () => {
    const page = await mount(runs);
    const plot = page.locator('.u-over').first();
    await plot.dragTo(plot, { sourcePosition: { x: 60, y: 50 }, targetPosition: { x: 160, y: 50 } });
    await stage.untilEqual(() => /^\d+\.\.\d+$/.test(param('zoom') ?? ''), true);
    const [from, to] = param('zoom')!.split('..').map(Number);
    const asked = `"step_from":${from},"step_to":${to}`;
    await until(() => JSON.stringify(stage.api.bodies).includes(asked));
    await page.getByRole('button', { name: 'Show all steps' }).click();
    await stage.untilEqual(() => param('zoom'), null);
    await stage.page.goBack();
    await stage.untilEqual(() => param('zoom'), `${from}..${to}`);
    await stage.page.goBack();
    await stage.untilEqual(() => param('zoom'), null);
  });

  it('shows the curves by epoch and by time since the runs began, and keeps what is in view', async () => {
    const epochs = runs.map((one, at) => ({ ...one, epoch: 3 * (at + 1), step: 290 }));
    const page = await mount(epochs, '&zoom=100..200');
    await untilDrawn(3);
    const charts = () =>
      page.locator('svc-chart').evaluateAll((all) => all.map((one) => (one as unknown as SvcChart).x));
    await page.getByRole('button', { name: 'Epoch' }).click();
    await stage.untilEqual(charts, ['epoch', 'epoch', 'epoch']);
    expect([param('x'), param('steps')]).to.deep.equal(['epoch', '100..200']);
    const [from, to] = param('zoom')!.split('..').map(Number);
    expect([from! < 1.1, to! > 6]).to.deep.equal([true, true]);
    await page.getByRole('button', { name: 'Time' }).click();
    await stage.untilEqual(charts, ['elapsed', 'elapsed', 'elapsed']);
    expect(param('steps')).to.equal('100..200');
    const asked = stage.api.count('POST');
    await page.getByRole('button', { name: 'Step', exact: true }).click();
    await stage.untilEqual(() => [param('x'), param('zoom'), param('steps')], [null, '100..200', null]);
    expect(stage.api.count('POST')).to.equal(asked);
    await stage.page.goBack();
    await stage.untilEqual(charts, ['elapsed', 'elapsed', 'elapsed']);
    await stage.expectSound('by time');
  });

  it('cannot be shown by epoch while no run has told one', async () => {
    const page = await mount(runs, '&x=epoch');
    await untilDrawn(3);
    expect(await page.getByRole('button', { name: 'Epoch' }).isDisabled()).to.equal(true);
    expect(
      await page
        .locator('svc-chart')
        .first()
        .evaluate((one) => (one as unknown as SvcChart).x),
    ).to.equal('step');
  });

  it('has a legend in the charts of few runs, and the points as a file', async () => {
    const page = await mount(runs);
    const chart = page.locator('svc-chart').first();
    await stage.untilEqual(
      async () => (await chart.locator('.legend .label').allInnerTexts()).sort(),
      ['run-1', 'run-2', 'run-3'],
    );
    await chart.getByLabel('Download val/loss').click();
    const [download] = await Promise.all([
      stage.page.waitForEvent('download'),
      chart.getByRole('button', { name: 'CSV of the points shown' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('val-loss.csv');
  });

  it('shows a chart in full size, as the address says', async () => {
    const page = await mount(runs, '&chart=lr');
    await page.getByRole('dialog', { name: 'lr' }).waitFor();
    await stage.page.keyboard.press('Escape');
    await stage.untilEqual(() => param('chart'), null);
  });

  it('says in a chart why its points could not be loaded', async () => {
    const refusal = new Refusal(503, 'unavailable', 'the server is busy');
    await mount(runs, '', {}, { 'POST /runs/metrics:query': refusal });
    await stage.page.locator('svc-chart').first().getByText('the server is busy').waitFor();
  });
});
