import { expect } from 'chai';
import { Download } from './harness/fake-api.js';
import { MINUTE, NOW, attempt, event, idOf, job, node, run, series } from './harness/records.js';
import { RUN_ID as ID, useRunCharts } from './harness/run-charts.js';
import { useStage } from './harness/stage.js';

describe('the charts of a run', () => {
  const stage = useStage();
  const { chart, mount, headings } = useRunCharts(stage);

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

    it('go back by the back button, click by click', async () => {
      const page = await mount(two);
      const button = (name: string) => page.getByRole('button', { name });
      await button('Log scale').click();
      await button('Time').click();
      await page.getByLabel('Smoothing').fill('0.5');
      await page.getByLabel('Smoothing').fill('0.6');
      await button('Time').click();
      await stage.untilEqual(query, '?scale=log&x=time&smooth=0.6');
      for (const wanted of ['?scale=log&x=time', '?scale=log', '']) {
        await stage.page.evaluate(() => history.back());
        await stage.untilEqual(query, wanted);
      }
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
      await stage.untilEqual(() => chart('acc').getByRole('button', { name: 'Show all of acc' }).count(), 0);
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
      await chart('loss').getByRole('status').getByText('Step 40, loss 1').waitFor();
      await plot.press('ArrowLeft');
      await chart('loss').getByRole('status').getByText('Step 30, loss 2').waitFor();
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

    it('keep what is in view on another x axis', async () => {
      const ts = [0, 1, 2, 3, 4].map((at) => NOW - MINUTE + at * 1000);
      const epochs = [0, 0.5, 1, 1.5, 2];
      const page = await mount({ loss: { values: [5, 4, 3, 2, 1], ts, epochs } });
      await page.locator('.uplot').waitFor();
      await page.getByLabel('From step').fill('10');
      await page.getByLabel('From step').blur();
      await stage.untilEqual(query, '?zoom=10..40');
      await page.getByRole('button', { name: 'Epoch' }).click();
      await stage.untilEqual(query, '?zoom=0.5..2&x=epoch');
      await page.getByRole('button', { name: 'Time' }).click();
      await stage.untilEqual(query, `?zoom=${ts[1]}..${ts[4]}&x=time`);
      await page.getByRole('button', { name: 'Step' }).click();
      await stage.untilEqual(query, '?zoom=10..40');
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
        'layer10/b': { values: [1] },
        'layer10/w': { values: [1] },
        'layer2/b': { values: [1] },
        'layer2/w': { values: [1] },
      };
      const page = await mount(metrics);
      await stage.untilEqual(headings, ['train/lr', 'layer2/b', 'layer2/w', 'layer10/b', 'layer10/w']);
      await page.getByRole('button', { name: 'layer2 2 charts' }).click();
      await stage.untilEqual(headings, ['train/lr', 'layer10/b', 'layer10/w']);
      await go('/?metric=layer2/w&step=0');
      await stage.untilEqual(headings, ['train/lr', 'layer2/b', 'layer2/w', 'layer10/b', 'layer10/w']);
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
    await chart('loss').getByRole('status').getByText('Step 20, loss 9, loss jumped').waitFor();
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
});
