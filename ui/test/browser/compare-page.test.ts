import { until } from '@svc/hooks/testing';
import { expect } from 'chai';
import { comparing, configured, idsOf, serve } from './harness/compare-world.js';
import { OFFLINE, Refusal } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, idOf, metric } from './harness/records.js';
import { PHONE, useStage } from './harness/stage.js';

describe('the page of a comparison', () => {
  const stage = useStage();
  const { mount, param, colors, untilDrawn } = comparing(stage);
  const runs = [configured(1), configured(2), configured(3)];
  const row = (name: string) =>
    stage.page
      .locator('svc-compare-table tbody tr')
      .filter({ has: stage.page.getByRole('link', { name, exact: true }) });
  const cells = async (name: string) =>
    (await row(name).locator('td').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  const names = () =>
    stage.page
      .locator('svc-compare-table tbody bdi')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title')));

  it('names the winner by the direction of each metric, and none where there is no direction', async () => {
    await mount(runs);
    await stage.untilEqual(() => cells('run-1'), ['best 0.1', '0.1', '0.001', '']);
    expect(await cells('run-3')).to.deep.equal(['0.3', 'best 0.3', '0.001', '']);
    expect(stage.api.count('GET /runs/compare')).to.equal(2);
    await stage.page.getByText('(latest)').waitFor();
  });

  it('says why the server does not rank a metric, and shows the values of the training', async () => {
    const message = 'the evaluations are of several protocols: give the suite';
    await mount(runs, '', {}, { 'GET /runs/compare': new Refusal(422, 'validation_error', message) });
    await stage.page.getByText(`val/loss has no winner. ${message}`).waitFor();
    await stage.untilEqual(async () => (await cells('run-1'))[0], '0.125');
  });

  it('shows only the config that differs, and all of it on demand', async () => {
    const page = await mount(runs);
    const rows = () => stage.page.locator('svc-config-differences tbody th').allInnerTexts();
    await stage.untilEqual(rows, ['lr', 'optimizer', 'batch']);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await stage.untilEqual(rows, ['lr', 'optimizer', 'model.depth', 'batch']);
    expect(param('config')).to.equal('all');
  });

  it('holds the others against a baseline', async () => {
    const page = await mount(runs);
    await page.getByRole('button', { name: 'run-2 as the baseline' }).click();
    await row('run-2').getByText('baseline').waitFor();
    expect(param('baseline')).to.equal(runs[1]!.id);
    await row('run-1').getByText('−0.1 better').waitFor();
    await row('run-3').getByText('+0.1 worse').waitFor();
    expect(await stage.page.locator('svc-config-differences td.other').count()).to.equal(6);
    await page.getByRole('button', { name: 'run-2 as the baseline' }).click();
    await stage.untilEqual(() => param('baseline'), null);
  });

  it('hides a run in the drawings and keeps it in the table, and keeps the focus', async () => {
    const page = await mount(runs);
    await untilDrawn(3);
    const button = page.getByRole('button', { name: 'Show run-2 in the charts' });
    await button.focus();
    await stage.page.keyboard.press('Enter');
    await stage.untilEqual(
      () => stage.page.locator('svc-chart').first().locator('.legend .label').count(),
      2,
    );
    expect(param('hidden')).to.equal(runs[1]!.id);
    expect(await names()).to.have.length(3);
    expect(await stage.page.locator('svc-scatter circle').count()).to.equal(2);
    expect(await button.evaluate((one) => (one.getRootNode() as ShadowRoot).activeElement === one)).to.equal(
      true,
    );
    expect(await button.getAttribute('aria-pressed')).to.equal('false');
  });

  it('removes a run, and asks for the others alone', async () => {
    const page = await mount(runs);
    await untilDrawn(3);
    const before = await colors();
    await page.getByRole('button', { name: 'Remove run-2 from the comparison' }).click();
    await stage.untilEqual(names, ['run-1', 'run-3']);
    expect(param('runs')).to.equal(`${runs[0]!.id},,${runs[2]!.id}`);
    expect(await colors()).to.deep.equal([before[0], before[2]]);
    await until(() =>
      stage.api.bodies.some((body) => (body as { run_ids?: string[] }).run_ids?.length === 2),
    );
  });

  it('shows names of runs whole on a phone, and in the heads of the config', async () => {
    const long = runs.map((one, at) => ({ ...one, name: `resnet-50 lr=0.0001 batch-size=256 seed=${at}` }));
    await mount(long, '', { viewport: PHONE });
    for (const part of ['svc-compare-table th a', 'svc-config-differences th .name']) {
      const names = stage.page.locator(part);
      await names.first().waitFor();
      const own = await names.evaluateAll((all) =>
        all.map((one) => one.querySelector('bdi')!.lastChild!.textContent),
      );
      expect(own, part).to.deep.equal(['seed=0', 'seed=1', 'seed=2']);
      const cut = await names.evaluateAll((all) => all.some((one) => one.scrollWidth > one.clientWidth + 1));
      expect(cut, part).to.equal(false);
    }
    await stage.page.getByRole('link', { name: long[1]!.name, exact: true }).waitFor();
    expect(await stage.page.locator('svc-compare-table tbody bdi').first().getAttribute('title')).to.equal(
      long[0]!.name,
    );
    await stage.expectSound();
  });

  it('sorts by a metric, the best first', async () => {
    const page = await mount(runs);
    await page.getByRole('button', { name: /^val\/accuracy/ }).click();
    await stage.untilEqual(names, ['run-3', 'run-2', 'run-1']);
    expect(param('sort')).to.equal('val/accuracy');
  });

  it('shows the view that its address says', async () => {
    const query = `&metrics=lr&hidden=${runs[0]!.id}&baseline=${runs[2]!.id}&scale=log&smooth=0.5&zoom=10..50&sort=lr&scatter=batch&target=val%2Faccuracy&axes=batch`;
    const page = await mount(runs, query);
    await untilDrawn(1);
    expect(await stage.page.locator('svc-chart h3').allInnerTexts()).to.deep.equal(['lr']);
    expect(await page.getByRole('button', { name: 'Log scale' }).getAttribute('aria-pressed')).to.equal(
      'true',
    );
    expect(await page.getByLabel('From step').inputValue()).to.equal('10');
    expect(await page.getByLabel('Smoothing').inputValue()).to.equal('0.5');
    await row('run-3').getByText('baseline').waitFor();
    expect(stage.api.bodies.at(-1)).to.deep.include({ step_from: 10, step_to: 50, names: ['lr'] });
    const titles = await stage.page.locator('svc-parallel .title').allTextContents();
    expect(titles.map((title) => title.trim())).to.have.length(2);
    expect(await page.getByLabel('x of the scatter').inputValue()).to.equal('batch');
    expect(await page.getByLabel('Metric', { exact: true }).inputValue()).to.equal('val/accuracy');
  });

  it('changes the metrics, the axes, the scale and the smoothing in the address', async () => {
    const page = await mount(runs);
    await page.locator('.choices summary').first().click();
    await page.getByRole('checkbox', { name: /^lr/ }).first().uncheck();
    await stage.untilEqual(() => param('metrics'), 'val/loss,val/accuracy');
    await page.getByRole('button', { name: 'Log scale' }).click();
    await page.getByLabel('x of the scatter').selectOption('optimizer');
    await stage.untilEqual(() => [param('scale'), param('scatter')], ['log', 'optimizer']);
    await page.getByLabel('Smoothing').fill('0.9');
    await stage.untilEqual(() => param('smooth'), '0.9');
  });

  it('closes its menus at Escape, which gives the focus back, and by a click beside them', async () => {
    const page = await mount(runs);
    for (const menu of ['Metrics', 'Axes']) {
      const details = page.locator('details.choices', { hasText: menu });
      const summary = details.locator('summary');
      const choice = details.getByRole('checkbox').first();
      await summary.click();
      await choice.focus();
      await stage.page.keyboard.press('Escape');
      await choice.waitFor({ state: 'hidden' });
      expect(await summary.evaluate((one) => one.matches(':focus'))).to.equal(true);
      await summary.click();
      await choice.click();
      expect(await choice.isVisible()).to.equal(true);
      await page.getByRole('heading', { name: 'Charts' }).click();
      await choice.waitFor({ state: 'hidden' });
    }
  });

  it('has a table with the values of the drawings', async () => {
    const page = await mount(runs);
    await page.getByText('Table of these values').click();
    const table = stage.page.locator('svc-config-against-metric table');
    await stage.untilEqual(
      () => table.locator('tbody tr').first().locator('td').allInnerTexts(),
      ['0.1', '8', 'adam', '0.1'],
    );
  });

  it('shows one run alone without a winner', async () => {
    await mount([runs[0]!]);
    await stage.untilEqual(async () => (await cells('run-1'))[0], '0.125');
    expect(stage.api.count('GET /runs/compare')).to.equal(0);
    await stage.page.getByText('differ in no value').waitFor();
  });

  it('says which run is not there, and compares the others', async () => {
    await stage.mount('svc-compare-page', {
      address: `/compare?runs=${idsOf(runs)},${idOf('run', 777777)}`,
      api: serve(runs),
    });
    await stage.page.getByText('There is no run 777777').waitFor();
    await stage.untilEqual(names, ['run-1', 'run-2', 'run-3']);
    expect(await stage.page.locator('.summary').innerText()).to.equal('3 runs');
    await stage.expectSound();
  });

  it('says that none of the runs is there', async () => {
    await stage.mount('svc-compare-page', {
      address: `/compare?runs=${idOf('run', 777777)}`,
      api: serve([]),
    });
    await stage.page.getByRole('heading', { name: 'None of these runs is there' }).waitFor();
  });

  it('says that the runs could not be loaded, and loads them when asked', async () => {
    const page = await mount(runs, '', {}, { 'GET /runs/{run_id}': OFFLINE });
    await page.getByRole('heading', { name: 'The runs could not be loaded' }).waitFor();
    stage.api.change(serve(runs));
    await page.getByRole('button', { name: 'Try again' }).click();
    await stage.untilEqual(names, ['run-1', 'run-2', 'run-3']);
  });

  it('helps to choose runs when its address names none', async () => {
    const page = await stage.mount('svc-compare-page', {
      address: '/compare',
      api: { ...serve(runs), 'GET /runs': { items: runs } },
    });
    await stage.expectSound('nothing chosen');
    await page.getByRole('checkbox', { name: /run-1/ }).check();
    await page.getByRole('checkbox', { name: /run-3/ }).check();
    await page.getByRole('button', { name: 'Compare 2 runs' }).click();
    await stage.untilEqual(names, ['run-1', 'run-3']);
    expect(param('runs')).to.equal(idsOf([runs[0]!, runs[2]!]));
  });

  it('says how a run begins when there is none', async () => {
    const page = await stage.mount('svc-compare-page', { address: '/compare' });
    await page.getByRole('heading', { name: 'No runs yet' }).waitFor();
  });

  it('adds runs to those that are there', async () => {
    const page = await mount([runs[0]!], '', {}, { ...serve(runs), 'GET /runs': { items: runs } });
    await page.getByRole('button', { name: 'Add runs' }).click();
    expect(await page.getByRole('checkbox', { name: /run-1/ }).isDisabled()).to.equal(true);
    await page.getByRole('checkbox', { name: /run-2/ }).check();
    await page.getByRole('button', { name: 'Add 1 run' }).click();
    await stage.untilEqual(names, ['run-1', 'run-2']);
  });

  it('shows hostile names as text, and tells runs of one name apart', async () => {
    const config = { [HOSTILE]: HOSTILE };
    const hostile = [configured(1, { name: HOSTILE, config }), configured(2, { name: HOSTILE })];
    const metrics = { [HOSTILE]: metric({ is_primary: true }) };
    await mount(hostile, '', {}, serve(hostile, metrics));
    await stage.untilEqual(names, [`${HOSTILE} (000001)`, `${HOSTILE} (000002)`]);
    await untilDrawn(1);
    expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
  });

  describe('with 50 runs', () => {
    const many = Array.from({ length: 50 }, (_, at) =>
      configured(at + 1, {
        name: at === 7 ? LONG_NAME : `run-${at + 1}`,
        config: { lr: 10 ** -(at % 6), optimizer: `opt-${at % 20}`, text: LONG_NAME, note: at },
      }),
    );
    const measured = Object.fromEntries(
      Array.from({ length: 10 }, (_, at) => [`metric-${at}/loss`, metric({ is_primary: at === 0 })]),
    );

    it('draws ten metrics with a colour of its own for each run', async () => {
      const chosen = Object.keys(measured).join(',');
      await mount(many, `&metrics=${encodeURIComponent(chosen)}`, {}, serve(many, measured));
      await stage.untilEqual(() => stage.page.locator('svc-chart').count(), 10);
      await stage.page.locator('svc-chart').last().scrollIntoViewIfNeeded();
      await stage.page.locator('svc-chart').last().locator('.uplot').waitFor();
      expect(new Set(await colors()).size).to.equal(50);
      expect(await stage.page.locator('svc-chart .count').first().innerText()).to.equal('50 runs');
      expect(stage.api.count('POST /runs/metrics:query')).to.equal(10);
      await stage.page.getByRole('button', { name: 'Add runs' }).waitFor();
    });

    it('has a row for each of them in the table of config, and a column for each name', async () => {
      await mount(many, '', {}, serve(many, measured));
      const table = stage.page.locator('svc-config-differences table');
      await stage.untilEqual(
        () => table.locator('thead th').allInnerTexts(),
        ['Run', 'lr', 'optimizer', 'note'],
      );
      expect(await table.locator('tbody tr').count()).to.equal(50);
    });

    for (const theme of ['light', 'dark'] as const) {
      for (const [where, viewport] of Object.entries({ 'a desk': undefined, 'a phone': PHONE })) {
        it(`is sound on ${where} in the ${theme} theme`, async () => {
          const more = { theme, ...(viewport && { viewport }) };
          await mount(many, `&baseline=${many[2]!.id}&hidden=${many[4]!.id}`, more);
          await stage.page.locator('svc-chart .uplot').first().waitFor();
          await stage.page.getByText('Table of these values').click();
          await stage.expectSound(`${where}, ${theme}`);
        });
      }
    }
  });
});
