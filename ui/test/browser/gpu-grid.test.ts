import { expect } from 'chai';
import type { ApiTable } from './harness/fake-api.js';
import { LIVELY, NODES, cluster } from './harness/overview.js';
import { event, idOf, node, slot } from './harness/records.js';
import { useStage } from './harness/stage.js';

describe('the GPUs of the overview', () => {
  const stage = useStage();
  const mount = (api: ApiTable = {}) => stage.mount('svc-overview-page', { api: { ...LIVELY, ...api } });
  const region = (name: string) => stage.page.getByRole('region', { name });
  const cell = (name: string | RegExp) => stage.page.getByRole('gridcell').getByRole('link', { name });

  it('say who has each, what it does, and whether it is well', async () => {
    await mount();
    await cell(
      'node-1, GPU 0: Busy, job job-1, utilization 93 %, memory 40 GiB of 80 GiB, temperature 67 °C, power 402 W.',
    ).waitFor();
    await cell('node-1, GPU 1: Free.').waitFor();
    await cell('node-2, GPU 0: Foreign, It is used by python (pid 4711, alice, 10 GiB).').waitFor();
    expect(await cell(/^node-1, GPU 0/).getAttribute('href')).to.equal(`/jobs/${idOf('job', 1)}`);
    expect(await cell(/^node-1, GPU 1/).getAttribute('href')).to.equal(`/nodes/${idOf('node', 1)}`);
    const troubles = stage.page.getByRole('list', { name: 'GPUs that take no job' });
    expect(await troubles.innerText()).to.match(/Foreign\s+node-2, GPU 0\s+It is used by python/);
    await stage.page.getByText('1 of 3 GPUs free · 1 of 2 nodes online').waitFor();
  });

  it('name their job, and have their temperature, up to 64 of them', async () => {
    const own = { busy: true, job_id: idOf('job', 1), temperature_c: 67, utilization: 93 };
    const nodes = (count: number) =>
      Array.from({ length: count }, (_, at) =>
        node(at, { slots: Array.from({ length: 8 }, (_, gpu) => slot(gpu, own)) }),
      );
    const tile = stage.page.locator('svc-gpu-grid .look').first();
    await mount({ 'GET /nodes': { items: nodes(8) } });
    for (const text of ['job-1', '67 °C']) await tile.getByText(text).waitFor();
    await stage.expectSound();
    await mount({ 'GET /nodes': { items: nodes(9) } });
    await tile.getByText('93').waitFor();
    expect(await tile.getByText('67 °C').count()).to.equal(0);
  });

  it('tell all of the one that is pointed at', async () => {
    await mount();
    await cell(/^node-1, GPU 0/).hover();
    const tip = stage.page.locator('.tip');
    await tip.getByText('402 W').waitFor();
    await tip.getByText('NVIDIA H100 · 80 GiB').waitFor();
    await stage.page.keyboard.press('Escape');
  });

  it('are one stop of the tab key, with arrows between them', async () => {
    await mount({ 'GET /nodes': { items: cluster() } });
    await cell(/^gpu-1, GPU 0/).waitFor();
    expect(await stage.page.locator('[role=grid] [tabindex="0"]').count()).to.equal(1);
    await stage.page.locator('[role=grid] [tabindex="0"]').focus();
    const focused = () =>
      stage.page.evaluate(() => {
        let at = document.activeElement;
        while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
        return at?.textContent?.trim().split(':')[0];
      });
    for (const [key, at] of [
      ['ArrowRight', 'gpu-1, GPU 0'],
      ['ArrowRight', 'gpu-1, GPU 1'],
      ['ArrowDown', 'gpu-2, GPU 1'],
      ['End', 'gpu-2, GPU 7'],
      ['ArrowRight', 'gpu-2, GPU 7'],
      ['ArrowUp', 'gpu-1, GPU 7'],
      ['ArrowUp', 'gpu-1, GPU 7'],
      ['Home', 'gpu-1'],
    ] as const) {
      await stage.page.keyboard.press(key);
      expect(await focused(), key).to.equal(at);
    }
    await stage.page.keyboard.press('ArrowRight');
    await stage.page.locator('.tip').getByText('gpu-1 · GPU 0').waitFor();
    await stage.page.keyboard.press('Escape');
    expect(await stage.page.locator('.tip').count()).to.equal(0);
  });

  it('keep the focus when they are read again', async () => {
    await mount();
    await cell(/^node-1, GPU 1/).focus();
    const busy = { ...NODES[0]!, slots: [NODES[0]!.slots[0]!, slot(1, { utilization: 12 })] };
    stage.api.change({ 'GET /nodes': { items: [busy, NODES[1]] } });
    await stage.push('/events/stream', [event(1, { node_id: idOf('node', 1) })]);
    await cell('node-1, GPU 1: Free, utilization 12 %.').waitFor();
    expect(await cell(/^node-1, GPU 1/).evaluate((link) => link.matches(':focus'))).to.equal(true);
  });

  it('leave out nodes without any, and say so', async () => {
    await mount({ 'GET /nodes': { items: [NODES[0], node(3, { slots: [] })] } });
    await region('GPUs').getByText('1 node without GPUs').waitFor();
    expect(await stage.page.getByRole('row').count()).to.equal(1);
  });

  it('are missed where no node has one', async () => {
    const page = await mount({ 'GET /nodes': { items: [node(3, { slots: [] })] } });
    await page.getByText('The node has no GPUs').waitFor();
  });
});
