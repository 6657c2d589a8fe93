import type { RunSummary, Series } from '@svc/contract';
import { expect } from 'chai';
import { Download, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import {
  HOSTILE,
  LONG_NAME,
  MINUTE,
  NOW,
  attempt,
  event,
  idOf,
  job,
  metric,
  node,
  run,
  series,
  summary,
} from './harness/records.js';
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

    describe('shown in another way', () => {
      const query = () => stage.page.evaluate(() => location.search);
      const go = (address: string) =>
        stage.page.evaluate((path) => {
          history.replaceState(null, '', path);
          window.dispatchEvent(new PopStateEvent('popstate'));
        }, address);
      const plotOf = (name: string) => chart(name).locator('.u-over');
      const two = { loss: { values: [5, 4, 3, 2, 1] }, acc: { values: [1, 2, 3, 4, 5] } };

      it('keep smoothing, scale and x axis in the address', async () => {
        const page = await mount(two);
        await page.getByLabel('Smoothing').fill('0.6');
        await page.getByRole('button', { name: 'Log scale' }).click();
        await page.getByRole('button', { name: 'Time' }).click();
        await stage.untilEqual(query, '?smooth=0.6&scale=log&x=time');
        await page.getByRole('button', { name: 'Step' }).click();
        await stage.untilEqual(query, '?smooth=0.6&scale=log');
      });

      it('follow the address', async () => {
        const page = await mount(two);
        await page.locator('.uplot').first().waitFor();
        await go('/?smooth=0.25&scale=log&zoom=10..30&search=lo');
        await page.getByText('0.25', { exact: true }).waitFor();
        expect(await page.getByRole('button', { name: 'Log scale' }).getAttribute('aria-pressed')).to.equal(
          'true',
        );
        expect(await page.getByLabel('To step').inputValue()).to.equal('30');
        await stage.untilEqual(headings, ['loss']);
      });

      it('zoom together, and back by the back button', async () => {
        await mount(two);
        await plotOf('loss').waitFor();
        const box = (await plotOf('loss').boundingBox())!;
        await stage.page.mouse.move(box.x + box.width * 0.25, box.y + 50);
        await stage.page.mouse.down();
        await stage.page.mouse.move(box.x + box.width * 0.75, box.y + 50, { steps: 5 });
        await stage.page.mouse.up();
        await stage.untilEqual(async () => /^\?zoom=\d+\.\.\d+$/.test(await query()), true);
        await chart('acc').getByRole('button', { name: 'Show all of acc' }).waitFor();
        await stage.page.evaluate(() => history.back());
        await stage.untilEqual(query, '');
        await stage.untilEqual(
          () => chart('acc').getByRole('button', { name: 'Show all of acc' }).count(),
          0,
        );
      });

      it('show the cursor at the same place in each', async () => {
        await mount(two);
        await plotOf('acc').waitFor();
        const box = (await plotOf('loss').boundingBox())!;
        await stage.page.mouse.move(box.x + box.width * 0.5, box.y + 20);
        await chart('loss').locator('.tooltip').getByText('Step 20').waitFor();
        await stage.untilEqual(() => chart('acc').locator('.value').innerText(), '3');
      });

      it('are read and zoomed with the keyboard', async () => {
        await mount(two);
        await plotOf('loss').waitFor();
        const plot = chart('loss').locator('.plot');
        await plot.focus();
        await plot.press('End');
        await chart('loss').getByRole('status').getByText('Step 40, latest 1').waitFor();
        await plot.press('ArrowLeft');
        await chart('loss').getByRole('status').getByText('Step 30, latest 2').waitFor();
        await plot.press('+');
        await stage.untilEqual(query, '?zoom=15..35');
        await plot.press('0');
        await stage.untilEqual(query, '');
        expect(await plot.evaluate((element) => element.matches(':focus'))).to.equal(true);
      });

      it('stand by epoch where points tell it, and cannot where none does', async () => {
        const page = await mount({ loss: { values: [3, 2, 1], epochs: [0, 0.5, 1] } });
        await page.getByRole('button', { name: 'Epoch' }).click();
        await plotOf('loss').waitFor();
        const box = (await plotOf('loss').boundingBox())!;
        await stage.page.mouse.move(box.x + box.width * 0.5, box.y + 20);
        await chart('loss').locator('.tooltip').getByText('Epoch 0.5').waitFor();
        const other = await mount(two);
        await other.locator('.uplot').first().waitFor();
        expect(await other.getByRole('button', { name: 'Epoch' }).isDisabled()).to.equal(true);
      });

      it('fill the window, and give the focus back', async () => {
        const page = await mount(two);
        await page.locator('.uplot').first().waitFor();
        await chart('loss').getByRole('button', { name: 'Full size of loss' }).click();
        await stage.page.getByRole('dialog', { name: 'loss' }).waitFor();
        expect(await query()).to.equal('?chart=loss');
        await stage.expectSound('full size');
        await stage.page.keyboard.press('Escape');
        await stage.untilEqual(query, '');
        const button = chart('loss').getByRole('button', { name: 'Full size of loss' });
        await stage.untilEqual(() => button.evaluate((element) => element.matches(':focus')), true);
        await go('/?chart=acc');
        await stage.page.getByRole('dialog', { name: 'acc' }).waitFor();
      });

      it('fold by section, and stay folded', async () => {
        const metrics = {
          'train/lr': { values: [1] },
          'layer10/w': { values: [1] },
          'layer2/w': { values: [1] },
        };
        const page = await mount(metrics);
        await stage.untilEqual(
          headings,
          ['train/lr', 'layer2/w', 'layer10/w'].map((name) => name.replace('train/', '')),
        );
        await page.getByRole('button', { name: /^layer2/ }).click();
        await stage.untilEqual(headings, ['lr', 'layer10/w']);
        await go('/?metric=layer2/w&step=0');
        await stage.untilEqual(headings, ['lr', 'layer2/w', 'layer10/w']);
        await stage.expectSound();
      });
    });

    describe('as files', () => {
      const save = async (label: string) => {
        await chart('a/b').locator('summary').click();
        const [file] = await Promise.all([
          stage.page.waitForEvent('download'),
          chart('a/b').getByRole('button', { name: label, exact: true }).click(),
        ]);
        const chunks: Buffer[] = [];
        for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
        return { name: file.suggestedFilename(), bytes: Buffer.concat(chunks) };
      };

      it('are an image, the points shown, and every point from the server', async () => {
        const page = await mount(
          { 'a/b': { values: [1, 'NaN'] } },
          { api: { 'GET /runs/{run_id}/metrics/export': new Download('name,step\n') } },
        );
        await page.locator('.uplot').waitFor();
        const image = await save('PNG image');
        expect(image.name).to.equal('a-b.png');
        expect(image.bytes.subarray(1, 4).toString()).to.equal('PNG');
        const ts = NOW - MINUTE;
        expect((await save('CSV of the points shown')).bytes.toString()).to.equal(
          `name,step,value,ts\na/b,0,1,${ts}\na/b,10,NaN,${ts + 1}\n`,
        );
        expect((await save('CSV of every point, from the server')).bytes.toString()).to.equal('name,step\n');
        expect(stage.api.requests.at(-1)).to.equal(`GET /runs/${ID}/metrics/export?format=csv&names=a%2Fb`);
      });

      it('are of the points shown alone, where the server cannot be asked for the name', async () => {
        await mount(
          { 'a,b': { values: [1] } },
          { api: { 'POST /runs/metrics:query': { series: { [ID]: { 'a,b': series([1]) } } } } },
        );
        await chart('a,b').locator('summary').click();
        await chart('a,b').getByRole('button', { name: 'CSV of the points shown' }).waitFor();
        expect(await chart('a,b').getByText('from the server').count()).to.equal(0);
      });
    });

    it('mark what happened, and lead to it', async () => {
      const spike = event(1, {
        type: 'LOSS_SPIKE',
        severity: 'warning',
        title: 'loss jumped',
        run_id: ID,
        data: { metric: 'loss', step: 20 },
      });
      await mount(
        { loss: { values: [1, 1, 9, 1] }, acc: { values: [1] } },
        { api: { 'GET /events': { items: [spike] } } },
      );
      await chart('loss').locator('.uplot').waitFor();
      await chart('loss').getByRole('button', { name: 'step 20' }).click();
      await chart('loss').locator('.tooltip').getByText('loss jumped').waitFor();
      await chart('loss').getByRole('status').getByText('Step 20, latest 9, loss jumped').waitFor();
      expect(await chart('acc').getByRole('button', { name: 'step 20' }).count()).to.equal(0);
      await stage.expectSound();
    });

    it('have what the node measured below them, by time', async () => {
      const own = job(1, { node_id: idOf('node', 1), gpu_indices: [1] });
      const samples = { ts: [NOW - 2000, NOW - 1000], values: [50, 70], total: 2, downsampled: false };
      const page = await mount(
        { loss: { values: [1, 2] } },
        {
          api: {
            'GET /runs/{run_id}': run(1, { job_id: own.id, attempt: 1, finished_at: NOW }),
            'GET /jobs/{job_id}': own,
            'GET /jobs/{job_id}/attempts': { items: [attempt(1)] },
            'GET /nodes': { items: [node(1)] },
            'GET /nodes/{node_id}/metrics': {
              node_id: idOf('node', 1),
              series: { 'gpu.1.util': samples, 'ram.used_mb': { ...samples, values: [1024, 2048] } },
            },
          },
        },
      );
      await page.getByText('node-1, slot 1, by time').waitFor();
      await stage.untilEqual(headings, ['loss', 'GPU utilization, %', 'RAM used, GiB']);
      expect(await chart('RAM used, GiB').locator('.value').innerText()).to.equal('2');
      expect(stage.api.requests.find((request) => request.includes('/metrics?names=gpu.1.util'))).to.include(
        `until=${NOW}`,
      );
      await stage.expectSound();
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
        expect(await stage.page.locator('svc-chart h3').innerText()).to.equal(HOSTILE);
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
    const mount = () =>
      stage.mount('svc-chart', {
        properties: { heading: 'train/loss', lines, x: 'elapsed', style: 'height: 20rem' },
      });

    it('name the lines nearest to the pointer, and how many there are besides', async () => {
      const page = await mount();
      await page.locator('.u-over').waitFor();
      const box = (await page.locator('.u-over').boundingBox())!;
      await stage.page.mouse.move(box.x + box.width / 2, box.y + 4);
      await page.locator('.tooltip').getByText('40 more lines').waitFor();
      expect(await page.locator('.tooltip th').first().innerText()).to.equal('run-49');
      await stage.expectSound();
    });

    it('switch each line off by its own key', async () => {
      const page = await mount();
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
