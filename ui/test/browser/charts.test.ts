import type { RunSummary, Series } from '@svc/contract';
import { expect } from 'chai';
import type { ApiRequest, ApiTable } from './harness/fake-api.js';
import { LONG_NAME, MINUTE, NOW, idOf, metric, run, series, summary } from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

const ID = idOf('run', 1);
const STREAM = `/runs/${ID}/metrics/stream`;

describe('charts', () => {
  const stage = useStage();
  const chart = (name: string) =>
    stage.page.locator('svc-chart').filter({ has: stage.page.getByRole('heading', { name, exact: true }) });

  describe('of a run', () => {
    const mount = (
      metrics: Record<string, Partial<Series> & { values: Series['values'] }>,
      more: { live?: boolean; api?: ApiTable; viewport?: typeof PHONE } = {},
    ) => {
      const all = Object.fromEntries(
        Object.entries(metrics).map(([name, { values, ...rest }]) => [name, series(values, rest)]),
      );
      return stage.mount('svc-run-charts', {
        properties: { runId: ID, summary: summaryOf(metrics), live: more.live ?? false },
        api: {
          'GET /runs/{run_id}/metrics': ({ query }: ApiRequest) => {
            const names = query.get('names')!.split(',');
            return { run_id: ID, series: Object.fromEntries(names.map((name) => [name, all[name]!])) };
          },
          'GET /runs/{run_id}': run(1),
          ...more.api,
        },
        ...(more.viewport && { viewport: more.viewport }),
      });
    };
    const summaryOf = (
      metrics: Record<string, { values: Series['values'] }>,
      counts: Record<string, number> = {},
    ): RunSummary =>
      summary(
        run(1),
        Object.fromEntries(
          Object.entries(metrics).map(([name, { values }]) => [
            name,
            metric({
              count: counts[name] ?? values.length,
              latest: { value: values.at(-1) ?? 0, step: 10 * (values.length - 1), ts: NOW - MINUTE },
              best: null,
            }),
          ]),
        ),
      );
    const headings = () => stage.page.locator('svc-chart h3').allInnerTexts();
    const metricReads = () => stage.api.requests.filter((request) => request.includes('/metrics?'));

    it('are one for each measure, the loss first', async () => {
      await mount({
        acc: { values: [1] },
        'train/loss': { values: [1] },
        'val/loss': { values: [2] },
        'val/f1': { values: [1] },
      });
      await stage.untilEqual(headings, ['loss', 'acc', 'f1']);
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

    it('wait for the first point', async () => {
      await mount({ loss: { values: [] } });
      await chart('loss').getByText('Waiting for the first point').waitFor();
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

    it('fit a phone with very long names', async () => {
      const page = await mount(
        { [`${LONG_NAME}/a`]: { values: ['NaN', 1e9] }, [LONG_NAME]: { values: [1e-9] } },
        { viewport: PHONE },
      );
      await page.locator('.uplot').first().waitFor();
      await stage.expectSound();
    });
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
