import type { Series } from '@svc/contract';
import { expect } from 'chai';
import { HOSTILE, LONG_NAME, NOW, definition, metric, run, series, summary } from './harness/records.js';
import { RUN_ID as ID, useRunCharts } from './harness/run-charts.js';
import { PHONE, useStage } from './harness/stage.js';

const STREAM = `/runs/${ID}/metrics/stream`;

describe('charts', () => {
  const stage = useStage();
  const { chart, mount, summaryOf, headings, metricReads } = useRunCharts(stage);

  describe('of a run', () => {
    it('are one for each measure, the loss first', async () => {
      await mount({
        acc: { values: [1] },
        'train/loss': { values: [1] },
        'val/loss': { values: [2] },
        'val/f1': { values: [1] },
      });
      await stage.untilEqual(headings, ['loss', 'acc', 'val/f1']);
      const legend = (await chart('loss').locator('.legend button').allInnerTexts()).map((text) =>
        text.replace(/\s+/g, ' ').trim(),
      );
      expect(legend).to.deep.equal(['train 1', 'val 2']);
      await stage.expectSound();
    });

    const odd: [string, Series['values'], string][] = [
      ['NaN', [1, 'NaN', 2, 'NaN'], '2 NaN'],
      ['infinities', [1, 'Infinity', '-Infinity'], '2 ∞'],
      ['both', ['NaN', 'Infinity'], '1 NaN, 1 ∞'],
    ];
    for (const [what, values, note] of odd) {
      it(`count ${what} in the legend, for a line cannot show them`, async () => {
        await mount({ loss: { values } });
        await chart('loss').getByText(note, { exact: true }).waitFor();
      });
    }

    it('count what a log scale cannot show', async () => {
      const page = await mount({ loss: { values: [1, 0, -1] } });
      await page.getByRole('button', { name: 'Log scale' }).click();
      await chart('loss').getByText('2 ≤ 0').waitFor();
    });

    it('tell a screen reader the newest value of each line', async () => {
      await mount({ 'train/loss': { values: [1, 0.5] }, 'val/loss': { values: [] } });
      const label = 'Chart of loss. train/loss: 0.5 at step 10; val/loss: no points';
      await stage.untilEqual(() => chart('loss').locator('figure').getAttribute('aria-label'), label);
    });

    it('show the unit behind the values, and share no chart between units', async () => {
      const definitions = [definition('eval/acc', { unit: '%' }), definition('train/acc')];
      await mount(
        { 'train/acc': { values: [0.5] }, 'eval/acc': { values: [90] } },
        { api: { 'GET /metric-definitions': { items: definitions } } },
      );
      await stage.untilEqual(headings, ['eval/acc', 'train/acc']);
      await chart('eval/acc').locator('.legend').getByText('%').waitFor();
      const plot = chart('eval/acc').locator('.plot');
      await chart('eval/acc').locator('.uplot').waitFor();
      await plot.focus();
      await plot.press('End');
      await chart('eval/acc').getByRole('status').getByText('Step 0, eval/acc 90 %').waitFor();
      await chart('eval/acc').locator('.tooltip td').getByText('%').waitFor();
      await stage.expectSound();
    });

    it('are not called live while nobody has heard of the run, and take its points all the same', async () => {
      const page = await mount({ loss: { values: [1] } }, { live: true });
      await page.getByText('live', { exact: true }).waitFor();
      await stage.change({ lost: true });
      await stage.untilEqual(() => page.getByText('live', { exact: true }).count(), 0);
      await stage.push(STREAM, [{ points: [{ name: 'loss', step: 10, value: 0.75, ts: NOW }] }], 'points');
      await chart('loss').getByText('0.75').waitFor();
    });

    it('have a single point in their middle, at step 0 too', async () => {
      await mount({ loss: { values: [1] } });
      const plot = chart('loss').locator('.plot');
      await chart('loss').locator('.uplot').waitFor();
      await plot.focus();
      await plot.press('End');
      await chart('loss').getByRole('status').getByText('Step 0, loss 1').waitFor();
      const placeOf = async (name: string) => (await chart('loss').locator(name).boundingBox())!;
      const [over, point] = [await placeOf('.u-over'), await placeOf('.u-cursor-pt')];
      expect(point.x + point.width / 2).to.be.closeTo(over.x + over.width / 2, 2);
    });

    it('show the whole ring of an entry of the legend that has the focus', async () => {
      await mount({ 'train/loss': { values: [1] }, 'val/loss': { values: [2] } });
      const entry = chart('loss').getByRole('button', { name: /^val/ });
      await entry.focus();
      await stage.page.keyboard.press('Shift+Tab');
      await stage.page.keyboard.press('Tab');
      expect(await entry.evaluate((element) => getComputedStyle(element).outlineOffset)).to.equal('-2px');
    });

    it('wait for the first point, without axes of nothing', async () => {
      await mount({ loss: { values: [] }, other: { values: [1, 2] } });
      await chart('other').locator('canvas').waitFor();
      await chart('loss').getByText('Waiting for the first point').waitFor();
      expect(await chart('loss').locator('canvas').count()).to.equal(0);
    });

    it('grow live', async () => {
      const page = await mount({ loss: { values: [1] } }, { live: true });
      await page.locator('.uplot').waitFor();
      await page.getByText('live', { exact: true }).waitFor();
      await stage.push(STREAM, [{ points: [{ name: 'loss', step: 10, value: 0.75, ts: NOW }] }], 'points');
      await chart('loss').getByText('0.75').waitFor();
      await stage.push(STREAM, [{ points: [{ name: 'loss', step: 20, value: 'NaN', ts: NOW }] }], 'points');
      await chart('loss').getByText('1 NaN').waitFor();
    });

    it('read again what the stream has lost, from the last step that was right', async () => {
      const metrics = { loss: { values: [1, 0.5] } };
      await mount(metrics, { live: true });
      await chart('loss').locator('.value').getByText('0.5').waitFor();
      stage.api.change({
        'GET /runs/{run_id}/metrics': {
          run_id: ID,
          series: { loss: series([0.5, 0.25], { steps: [10, 20], total: 2 }) },
        },
      });
      await stage.change({ summary: summaryOf(metrics, { loss: 3 }) });
      await chart('loss').locator('.value').getByText('0.25').waitFor();
      expect(metricReads().at(-1)).to.include('step_from=10');
    });

    it('are not read again while the server counts what they have', async () => {
      const metrics = { loss: { values: [1, 0.5] } };
      await mount(metrics, { live: true });
      await chart('loss').locator('.value').getByText('0.5').waitFor();
      const before = metricReads().length;
      await stage.change({ summary: summaryOf(metrics) });
      expect(metricReads().length).to.equal(before);
    });

    it('show a range in full resolution, by figures, and the whole again', async () => {
      const page = await mount({ loss: { values: [4, 3, 2, 1] } });
      await page.locator('.uplot').waitFor();
      await page.getByLabel('From step').fill('10');
      await page.getByLabel('From step').blur();
      await stage.untilEqual(() => page.getByLabel('To step').inputValue(), '30');
      await page.getByLabel('To step').fill('20');
      await page.getByLabel('To step').blur();
      await stage.untilEqual(
        () => metricReads().some((request) => request.includes('step_from=10&step_to=20&limit=5000')),
        true,
      );
      await page.getByRole('button', { name: 'Show all steps' }).click();
      await stage.untilEqual(() => page.getByLabel('From step').inputValue(), '');
    });

    it('show the whole for a range that is none', async () => {
      const page = await mount({ loss: { values: [4, 3, 2, 1] } });
      await page.locator('.uplot').waitFor();
      await page.getByLabel('From step').fill('30');
      await page.getByLabel('To step').fill('10');
      await page.getByLabel('To step').blur();
      expect(metricReads().every((request) => !request.includes('step_from'))).to.equal(true);
    });

    it('zoom to what is dragged, and back by a double click', async () => {
      const page = await mount({ loss: { values: [5, 4, 3, 2, 1] } });
      const plot = page.locator('.u-over');
      await plot.waitFor();
      const box = (await plot.boundingBox())!;
      await stage.page.mouse.move(box.x + box.width * 0.25, box.y + 50);
      await stage.page.mouse.down();
      await stage.page.mouse.move(box.x + box.width * 0.75, box.y + 50, { steps: 5 });
      await stage.page.mouse.up();
      await stage.untilEqual(async () => Number(await page.getByLabel('From step').inputValue()) > 0, true);
      await plot.dblclick();
      await stage.untilEqual(() => page.getByLabel('From step').inputValue(), '');
    });

    it('name the values under the pointer', async () => {
      const page = await mount({
        'train/loss': { values: [5, 4, 3] },
        'val/loss': { values: [7], steps: [0], ts: [NOW] },
      });
      const plot = page.locator('.u-over');
      await plot.waitFor();
      const box = (await plot.boundingBox())!;
      await stage.page.mouse.move(box.x + box.width - 2, box.y + 20);
      const tooltip = chart('loss').locator('.tooltip');
      await tooltip.getByText('Step 20').waitFor();
      const rows = (await tooltip.locator('tr').allInnerTexts()).map((text) =>
        text.replace(/\s+/g, ' ').trim(),
      );
      expect(rows).to.deep.equal(['train 3', 'val at 0 7']);
    });

    it('leave out a line that is switched off', async () => {
      await mount({ 'train/loss': { values: [5] }, 'val/loss': { values: [7] } });
      const button = chart('loss').getByRole('button', { name: /^train/ });
      await button.click();
      expect(await button.getAttribute('aria-pressed')).to.equal('false');
      await button.click();
      expect(await button.getAttribute('aria-pressed')).to.equal('true');
    });

    it('are smoothed as much as is asked', async () => {
      const page = await mount({ loss: { values: [5, 1, 5] } });
      await page.getByText('off', { exact: true }).waitFor();
      await page.getByLabel('Smoothing').fill('0.6');
      await page.getByText('0.60', { exact: true }).waitFor();
      await stage.expectSound();
    });

    describe('when they are many', () => {
      const many = Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => [`metric_${String(at).padStart(2, '0')}`, { values: [at] }]),
      );

      it('are shown in part, and all when asked', async () => {
        const page = await mount(many);
        await stage.untilEqual(async () => (await headings()).length, 48);
        await page.getByRole('button', { name: 'Show all 60 charts' }).click();
        await stage.untilEqual(async () => (await headings()).length, 60);
      });

      it('are drawn only where they are in sight', async () => {
        const page = await mount(many);
        await page.locator('.uplot').first().waitFor();
        expect(await page.locator('.uplot').count()).to.be.below(48);
        await page.locator('svc-chart').last().scrollIntoViewIfNeeded();
        await page.locator('svc-chart').last().locator('.uplot').waitFor();
      });

      it('are found by a part of their name', async () => {
        const page = await mount(many);
        await page.getByLabel('Filter metrics').fill('METRIC_2');
        await stage.untilEqual(async () => (await headings()).length, 10);
        await page.getByLabel('Filter metrics').fill('nothing');
        await page.getByText('No metric’s name contains “nothing”.').waitFor();
        await stage.expectSound();
      });
    });

    it('draw names as text, whatever is in them', async () => {
      for (const theme of ['light', 'dark'] as const) {
        const name = `train/${HOSTILE}`;
        await stage.mount('svc-run-charts', {
          theme,
          viewport: PHONE,
          properties: { runId: ID, summary: summary(run(1), { [name]: metric({ best: null }) }) },
          api: {
            'GET /runs/{run_id}': run(1),
            'GET /runs/{run_id}/metrics': { run_id: ID, series: { [name]: series([1, 2]) } },
          },
        });
        await stage.page.locator('.uplot').waitFor();
        expect(await stage.page.locator('svc-chart h3').innerText()).to.equal(name);
        await stage.expectSound(theme);
      }
    });

    it('stay bounded while points arrive for hours: what is long is read again, thinned', async () => {
      const page = await mount({ loss: { values: [1] } }, { live: true });
      await page.getByText('live', { exact: true }).waitFor();
      const thinned = series([1, 2, 3], { steps: [0, 5000, 9000], total: 9001, downsampled: true });
      stage.api.change({ 'GET /runs/{run_id}/metrics': { run_id: ID, series: { loss: thinned } } });
      const points = Array.from({ length: 9000 }, (_, at) => ({
        name: 'loss',
        step: at + 1,
        value: 1,
        ts: NOW + at,
      }));
      await stage.push(STREAM, [{ points }], 'points');
      const held = () =>
        chart('loss').evaluate(
          (element) =>
            (element as unknown as { lines: { series: { steps: number[] } }[] }).lines[0]!.series.steps
              .length,
        );
      await stage.untilEqual(held, 3);
    });

    it('fit a phone with very long names', async () => {
      const page = await mount(
        { [`${LONG_NAME}/a`]: { values: ['NaN', 1e9] }, [LONG_NAME]: { values: [1e-9] } },
        { viewport: PHONE },
      );
      await page.locator('.uplot').first().waitFor();
      await stage.expectSound();
    });
  });

  describe('of many runs', () => {
    const lines = Array.from({ length: 50 }, (_, at) => ({
      key: `run-${at}`,
      name: 'train/loss',
      label: `run-${at}`,
      color: `oklch(0.5 0.15 ${at * 7})`,
      dash: at % 2 === 0 ? [] : [4, 4],
      series: series([at, at + 1, at + 2]),
    }));
    const mountMany = () =>
      stage.mount('svc-chart', {
        properties: { heading: 'train/loss', lines, x: 'elapsed', style: 'height: 20rem' },
      });

    it('name the lines nearest to the pointer, and how many there are besides', async () => {
      const page = await mountMany();
      await page.locator('.u-over').waitFor();
      const box = (await page.locator('.u-over').boundingBox())!;
      await stage.page.mouse.move(box.x + box.width / 2, box.y + 4);
      await page.locator('.tooltip').getByText('40 more lines').waitFor();
      expect(await page.locator('.tooltip th').first().innerText()).to.equal('run-49');
      await stage.expectSound();
    });

    it('switch each line off by its own key', async () => {
      const page = await mountMany();
      await page.getByRole('button', { name: /^run-7 / }).click();
      await stage.untilEqual(() => page.locator('.legend [aria-pressed=false]').count(), 1);
    });
  });

  it('draw a spike that is one of many points, with the band of a thinned line below it', async () => {
    const values = Array.from({ length: 4000 }, (_, at) => (at === 2222 ? 100 : at % 2));
    const page = await stage.mount('svc-chart', {
      properties: {
        heading: 'loss',
        lines: [{ name: 'loss', series: series(values, { total: 40_000 }) }],
        style: 'height: 20rem',
      },
    });
    await page.locator('.uplot').waitFor();
    /** The part of the plot's height that is free above the highest pixel of the line. */
    const free = () =>
      page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { width, height } = canvas;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, width, height);
        const isLine = (_: unknown, at: number): boolean =>
          data[at * 4 + 3]! > 60 && data[at * 4 + 2]! - data[at * 4]! > 80;
        const first = Array.from({ length: width * height }).findIndex(isLine);
        return Math.floor(first / width) / height;
      });
    await stage.untilEqual(async () => (await free()) < 0.15, true);
  });

  it('take the colours of another theme', async () => {
    const page = await stage.mount('svc-run-charts', {
      properties: { runId: ID, summary: summary(run(1), { loss: metric() }) },
      api: {
        'GET /runs/{run_id}': run(1),
        'GET /runs/{run_id}/metrics': { run_id: ID, series: { loss: series([1, 2]) } },
      },
    });
    await page.locator('.uplot').waitFor();
    const pixels = () => page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
    const light = await pixels();
    await stage.page.evaluate(() => {
      document.documentElement.dataset['theme'] = 'dark';
      window.dispatchEvent(new Event('svc-theme'));
    });
    await stage.untilEqual(async () => (await pixels()) !== light, true);
  });
});
