import type { NodeRecord, NodeSnapshot } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiRequest, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, MINUTE, NOW, event, idOf, job, node, slot } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

const GIB = 1024;

/** A figure for each of the last 60 minutes. */
function past(valueAt: (minute: number) => number) {
  const minutes = Array.from({ length: 60 }, (_, at) => at);
  return {
    ts: minutes.map((at) => NOW - (59 - at) * MINUTE),
    values: minutes.map(valueAt),
    total: 60,
    downsampled: false,
  };
}

function gpuSeries(count: number) {
  const entries = Array.from({ length: count }, (_, gpu) => [
    [`gpu.${gpu}.util`, past((at) => (at * 7 + gpu * 11) % 100)],
    [`gpu.${gpu}.mem_used_mb`, past(() => (gpu + 2) * 8 * GIB)],
    [`gpu.${gpu}.mem_total_mb`, past(() => 80 * GIB)],
    [`gpu.${gpu}.temp_c`, past((at) => 40 + gpu + (at % 20))],
    [`gpu.${gpu}.power_w`, past((at) => 300 + gpu * 20 + at)],
    [`gpu.${gpu}.sm_clock_mhz`, past(() => 1980)],
    [`gpu.${gpu}.mem_clock_mhz`, past(() => 2619)],
  ]);
  return Object.fromEntries(entries.flat()) as Record<string, ReturnType<typeof past>>;
}

const HOST_SERIES = {
  'cpu.util': past((at) => (at * 3) % 100),
  'ram.used_mb': past(() => 64 * GIB),
  'ram.total_mb': past(() => 256 * GIB),
  'net.rx_bps': past((at) => at * 12e6),
  'net.tx_bps': past(() => 2e6),
  'disk.used_gb': past(() => 500),
  'disk.free_gb': past(() => 1500),
  'disk.total_gb': past(() => 2000),
  'disk./data.used_gb': past(() => 9000),
  'disk./data.free_gb': past(() => 1000),
  'disk./data.total_gb': past(() => 10_000),
};

describe('the page of a node', () => {
  const stage = useStage();
  const id = idOf('node', 1);
  const busy = slot(0, {
    busy: true,
    job_id: idOf('job', 1),
    utilization: 93.4,
    memory_used_mb: 40 * GIB,
    temperature_c: 67,
    power_w: 402,
    sm_clock_mhz: 1980,
    mem_clock_mhz: 2619,
  });
  const foreign = slot(1, {
    health: {
      state: 'foreign',
      reason: 'is used by python (pid 4711, alice, 10 GiB)',
      since: NOW - 5 * MINUTE,
    },
  });
  const record = node(1, {
    slots: [busy, foreign],
    labels: { rack: 'b4' },
    system: {
      cpu_count: 96,
      cpu_model: 'EPYC 9654',
      ram_total_mb: 256 * GIB,
      disk_total_gb: 2000,
      os: 'Debian 13',
      nvidia_driver: '570.86.15',
      cuda: '12.8',
      rack_position: 7,
    } as NodeRecord['system'],
    live: {
      ts: NOW,
      cpu_util: 37.6,
      ram_used_mb: 64 * GIB,
      disk_used_gb: 500,
      disk_free_gb: 1500,
      net_rx_bps: 940e6,
      net_tx_bps: 1200,
    },
  });
  const snapshot: NodeSnapshot = {
    node_id: id,
    ts: NOW,
    metrics: {},
    processes: [
      { gpu: 1, pid: 4711, user: 'alice', name: 'python', mem_mb: 10 * GIB, job_id: null },
      { gpu: 0, pid: 99, user: 'svc', name: 'train', mem_mb: 40 * GIB, job_id: idOf('job', 1) },
    ],
    host_processes: [
      { pid: 100, name: 'loader', user: 'svc', cpu_percent: 380.4, mem_mb: 2048, job_id: idOf('job', 1) },
    ],
  };
  const answers: ApiTable = {
    'GET /nodes/{node_id}': record,
    'GET /nodes/{node_id}/snapshot': snapshot,
    'GET /nodes/{node_id}/metrics': { node_id: id, series: { ...gpuSeries(2), ...HOST_SERIES } },
    'GET /jobs': ({ query }: ApiRequest) => ({
      items:
        query.get('status') === 'RUNNING'
          ? [job(1, { name: 'train-1', node_id: id, gpu_indices: [0] })]
          : [
              job(2, { name: 'eval-2', status: 'FAILED', node_id: id, finished_at: NOW }),
              job(1, { name: 'train-1' }),
            ],
      next_before: null,
    }),
  };
  const mount = (api: ApiTable = {}, more: Parameters<typeof stage.mount>[1] = {}) =>
    stage.mount('svc-node-page', {
      properties: { nodeId: id, query: '' },
      address: `/nodes/${id}`,
      api: { ...answers, ...api },
      ...more,
    });
  const region = (name: string) => stage.page.getByRole('region', { name, exact: true });
  const chart = (name: string) =>
    stage.page.getByRole('figure', { name: new RegExp(`^Chart of ${name}\\.`) });
  const drawn = () => stage.page.locator('svc-node-chart canvas').count();

  it('says what the node is', async () => {
    const page = await mount();
    await page.getByRole('heading', { name: 'node-1' }).waitFor();
    await page.getByText('Online').waitFor();
    const about = region('About the node');
    const facts = await about
      .locator('dl > div')
      .evaluateAll((each) =>
        each.map((one) => [...one.children].map((part) => part.textContent!.trim()).join(': ')),
      );
    expect(facts).to.include.members([
      'GPUs: 1 busy · 0 free · 1 foreign',
      'CPU: 38 %',
      'Memory used: 64 GiB of 256 GiB',
      'Network: 940 Mbit/s in, 1.2 kbit/s out',
      'Agent: 0.1.0',
      'NVIDIA driver: 570.86.15',
      'CUDA: 12.8',
      'rack_position: 7',
      'Processor: EPYC 9654 · 96 cores',
      'System: Debian 13',
    ]);
    await about.getByText('rack=b4').waitFor();
    expect(await stage.page.title()).to.equal('node-1 · svc');
    expect(await page.getByRole('link', { name: 'Events' }).getAttribute('href')).to.equal(
      `/events?node_id=${id}`,
    );
  });

  it('shows its slots: who has each, what it does, and why it takes no job', async () => {
    const page = await mount();
    const rows = page.getByRole('group', { name: 'GPU slots' }).getByRole('row');
    await rows.nth(1).getByRole('link', { name: 'train-1' }).waitFor();
    for (const text of ['Busy', '93 %', '40 GiB of 80 GiB', '67 °C', '402 W', '1980 MHz', 'memory 2619 MHz'])
      await rows.nth(1).getByText(text).waitFor();
    await rows.nth(2).getByText('Foreign').waitFor();
    await rows
      .nth(2)
      .getByText(/It is used by python \(pid 4711, alice, 10 GiB\), for/)
      .waitFor();
  });

  it('shows the processes on its GPUs by memory, with their jobs, and the foreign ones', async () => {
    await mount();
    await region('Processes on GPUs').locator('.panel-head').getByText('1 foreign').waitFor();
    const rows = region('Processes on GPUs').getByRole('row');
    await rows.nth(1).getByRole('link', { name: 'train-1' }).waitFor();
    expect((await rows.nth(2).innerText()).split(/\s*\t\s*/)).to.deep.equal([
      'python',
      '10 GiB',
      '1',
      'alice',
      '4711',
      'Foreign: of no job',
    ]);
    await stage.page.getByRole('group', { name: 'Processes of the host' }).getByText('380 %').waitFor();
  });

  it('shows the jobs there, those that run first', async () => {
    await mount();
    const jobs = region('Latest jobs here');
    await jobs.getByRole('link', { name: 'eval-2' }).waitFor();
    expect(await jobs.getByRole('link').allInnerTexts()).to.deep.equal(['train-1', 'eval-2']);
  });

  describe('the charts', () => {
    it('show each figure of each GPU, the host and its disks', async () => {
      await mount();
      await chart('GPU utilization').waitFor();
      const headings = await stage.page.locator('svc-node-chart h3').allInnerTexts();
      expect(headings).to.deep.equal([
        'GPU utilization',
        'GPU memory',
        'GPU temperature',
        'GPU power',
        'GPU clock',
        'GPU memory clock',
        'CPU',
        'Memory',
        'Network',
        'Disk used',
      ]);
      expect(await chart('GPU temperature').getAttribute('aria-label')).to.equal(
        'Chart of GPU temperature. GPU 0: 59 °C; GPU 1: 60 °C',
      );
      expect(await chart('Disk used').getAttribute('aria-label')).to.equal(
        'Chart of Disk used. state directory of 1.8 TiB: 25 %; /data of 9.1 TiB: 90 %',
      );
      await stage.untilEqual(async () => (await drawn()) > 0, true);
    });

    it('show what other collectors measure under its own name, that of all GPUs in one chart', async () => {
      const series = {
        'fan.rpm': past(() => 4200),
        'gpu.0.throttled': past(() => 0),
        'gpu.0.constructor': past(() => 1),
        'gpu.1.constructor': past(() => 2),
      };
      await mount({ 'GET /nodes/{node_id}/metrics': { node_id: id, series } });
      await chart('fan.rpm').waitFor();
      await chart('GPU throttled').waitFor();
      expect(await chart('GPU constructor').getAttribute('aria-label')).to.equal(
        'Chart of GPU constructor. GPU 0: 1; GPU 1: 2',
      );
    });

    it('have no more lines than there are colours', async () => {
      await mount({ 'GET /nodes/{node_id}/metrics': { node_id: id, series: gpuSeries(16) } });
      await chart('GPU power, GPU 0 to GPU 7').waitFor();
      await chart('GPU power, GPU 8 to GPU 15').waitFor();
    });

    it('go back as far as the address says', async () => {
      const page = await mount();
      await chart('CPU').waitFor();
      expect(stage.api.count(`GET /nodes/${id}/metrics?window_s=3600`)).to.equal(1);
      await page.getByRole('button', { name: '7 d' }).click();
      await stage.untilEqual(() => stage.api.count(`GET /nodes/${id}/metrics?window_s=604800`), 1);
      expect(await stage.page.evaluate('location.search')).to.equal('?window=7d');
      await page.getByRole('button', { name: '1 h' }).click();
      await stage.untilEqual(() => stage.api.count(`GET /nodes/${id}/metrics?window_s=3600`), 2);
      expect(await stage.page.evaluate('location.search')).to.equal('');
    });

    it('tell the values at the time that is pointed at, in all of them', async () => {
      await mount({}, { viewport: { width: 1280, height: 2400 } });
      await stage.untilEqual(drawn, 10);
      const box = (await chart('GPU temperature').locator('.u-over').boundingBox())!;
      await stage.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await chart('GPU temperature')
        .locator('.tooltip')
        .getByText(/^\d+ °C$/)
        .first()
        .waitFor();
      await stage.untilEqual(
        async () => (await chart('CPU').locator('.u-cursor-x:not(.u-off)').count()) > 0,
        true,
      );
      await stage.page.mouse.move(0, 0);
    });

    it('say so when nothing was measured', async () => {
      const page = await mount({ 'GET /nodes/{node_id}/metrics': { node_id: id, series: {} } });
      await page.getByText('Nothing was measured in the last 1 h.').waitFor();
    });

    it('say why they are not there, and the rest of the page is', async () => {
      const page = await mount({
        'GET /nodes/{node_id}/metrics': new Refusal(503, 'unavailable', 'The database is away.'),
      });
      await page.getByText('The charts could not be loaded. The database is away.').waitFor();
      await page.getByRole('link', { name: 'train-1' }).first().waitFor();
    });
  });

  it('drains the node after a question, and the focus stays', async () => {
    const page = await mount({ 'POST /nodes/{node_id}/drain': node(1, { status: 'DRAINING' }) });
    stage.api.change({ 'GET /nodes/{node_id}': { ...record, status: 'DRAINING' } });
    await page.getByRole('button', { name: 'Drain', exact: true }).click();
    await stage.page.getByRole('button', { name: 'Drain the node' }).click();
    const undrain = page.getByRole('button', { name: 'Undrain', exact: true });
    await undrain.waitFor();
    expect(await undrain.evaluate((button) => button.matches(':focus'))).to.equal(true);
  });

  it('offers nothing that writes to a token that can only read', async () => {
    const page = await mount({}, { canWrite: false });
    await page.getByRole('heading', { name: 'node-1' }).waitFor();
    await chart('CPU').waitFor();
    expect(await page.getByRole('button', { name: /rain/ }).count()).to.equal(0);
    await stage.expectSound();
  });

  it('reads again when something has happened there', async () => {
    const page = await mount();
    await page.getByText('Online').waitFor();
    stage.api.change({ 'GET /nodes/{node_id}': { ...record, status: 'OFFLINE', live: null } });
    await stage.push('/events/stream', [event(1, { node_id: id })]);
    await page.locator('.page-head svc-status').getByText('Offline').waitFor();
  });

  it('keeps what it has when a refresh fails, and says so', async () => {
    const page = await mount();
    await page.getByText('Online').waitFor();
    stage.api.change({ 'GET /nodes/{node_id}': OFFLINE });
    await stage.push('/events/stream', [event(1, { node_id: id })]);
    await page.getByText('This may be out of date.').waitFor();
    await page.getByRole('heading', { name: 'node-1' }).waitFor();
  });

  it('says that the node was deleted while it was looked at', async () => {
    const page = await mount();
    await page.getByText('Online').waitFor();
    stage.api.change({ 'GET /nodes/{node_id}': new Refusal(404, 'not_found', 'no node') });
    await stage.push('/events/stream', [event(1, { node_id: id })]);
    await page.getByRole('heading', { name: 'This node was deleted' }).waitFor();
    expect(await page.getByText('Online').count()).to.equal(0);
  });

  it('says that there is no such node', async () => {
    const page = await mount({ 'GET /nodes/{node_id}': new Refusal(404, 'not_found', 'no node') });
    await page.getByRole('heading', { name: 'Node not found' }).waitFor();
    expect(await page.getByRole('link', { name: 'Show all nodes' }).getAttribute('href')).to.equal('/nodes');
  });

  it('shows a node without GPUs, without jobs, of which nothing was measured', async () => {
    const page = await mount({
      'GET /nodes/{node_id}': node(1, { slots: [], status: 'OFFLINE' }),
      'GET /nodes/{node_id}/snapshot': {
        node_id: id,
        ts: null,
        metrics: {},
        processes: [],
        host_processes: [],
      },
      'GET /nodes/{node_id}/metrics': { node_id: id, series: {} },
      'GET /jobs': { items: [], next_before: null },
    });
    await page.getByText('No job has run here yet.').waitFor();
    await page.getByText('Nothing was measured in the last minute.').waitFor();
    expect(await page.getByRole('heading', { name: 'GPU slots' }).count()).to.equal(0);
    await stage.expectSound();
  });

  for (const theme of ['light', 'dark'] as const) {
    for (const [where, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      it(`is sound on a ${where}, ${theme}, with 8 GPUs and hostile names`, async () => {
        const slots = Array.from({ length: 8 }, (_, at) =>
          at === 3 ? { ...foreign, index: 3 } : { ...busy, index: at },
        );
        const names = {
          name: LONG_NAME,
          hostname: LONG_NAME,
          labels: { [LONG_NAME.slice(0, 100)]: HOSTILE },
        };
        await mount(
          {
            'GET /nodes/{node_id}': { ...record, ...names, slots },
            'GET /nodes/{node_id}/snapshot': {
              ...snapshot,
              processes: [
                ...snapshot.processes,
                { gpu: 2, pid: 5, user: LONG_NAME, name: HOSTILE, mem_mb: 1, job_id: null },
              ],
            },
            'GET /nodes/{node_id}/metrics': { node_id: id, series: { ...gpuSeries(8), ...HOST_SERIES } },
            'GET /jobs': {
              items: [job(1, { name: LONG_NAME, gpu_indices: [0, 1, 2] }), job(3, { name: HOSTILE })],
              next_before: null,
            },
          },
          { theme, viewport: { ...viewport, height: 6400 } },
        );
        await stage.untilEqual(drawn, 10);
        await stage.page.getByText(HOSTILE).first().waitFor();
        expect(await stage.page.evaluate('window.hacked')).to.equal(undefined);
        await stage.screenshot(`node-${where}-${theme}`);
        await stage.expectSound(`${where}, ${theme}`);
      });
    }
  }
});
