import type { NodeRecord } from '@svc/contract';
import { expect } from 'chai';
import { OFFLINE, Refusal, type ApiTable } from './harness/fake-api.js';
import { HOSTILE, LONG_NAME, MINUTE, NOW, event, idOf, job, node, slot, status } from './harness/records.js';
import { DESK, PHONE, useStage } from './harness/stage.js';

describe('the page of nodes', () => {
  const stage = useStage();
  const mount = (
    nodes: readonly NodeRecord[],
    api: ApiTable = {},
    more: { canWrite?: boolean; viewport?: typeof DESK } = {},
  ) => stage.mount('svc-nodes-page', { api: { 'GET /nodes': { items: nodes }, ...api }, ...more });
  const names = () => stage.page.locator('svc-node-card h2').allInnerTexts();

  it('holds the place of nodes until they are there', async () => {
    const page = await mount([], { 'GET /nodes': () => new Promise(() => {}) });
    await page.locator('svc-skeleton').waitFor({ state: 'attached' });
    expect(await page.getByText('No node has connected yet').count()).to.equal(0);
  });

  it('says how to connect the first node', async () => {
    const page = await mount([]);
    await page.getByRole('heading', { name: 'No node has connected yet' }).waitFor();
    await page.getByText('svc token create --name gpu-1 --scope agent').waitFor();
    await page
      .getByText('SVC_TOKEN=TOKEN svc agent --url http://localhost --name gpu-1', { exact: true })
      .waitFor();
    expect(await page.getByRole('link', { name: 'Tokens' }).getAttribute('href')).to.equal('/tokens?new=1');
    await stage.expectSound();
  });

  it('says that the nodes could not be loaded, and tries again when asked', async () => {
    const page = await mount([], { 'GET /nodes': OFFLINE });
    await page.getByRole('heading', { name: 'The nodes could not be loaded' }).waitFor();
    stage.api.change({ 'GET /nodes': { items: [node(1)] } });
    await page.getByRole('button', { name: 'Try again' }).click();
    await stage.untilEqual(names, ['node-1']);
  });

  it('keeps each in its place by name, as people count, whatever its state', async () => {
    await mount([node(10), node(3, { status: 'DRAINING' }), node(2, { status: 'OFFLINE' }), node(1)]);
    await stage.untilEqual(names, ['node-1', 'node-2', 'node-3', 'node-10']);
  });

  it('leads to the page of each', async () => {
    const page = await mount([node(1)]);
    const link = page.getByRole('link', { name: 'node-1' });
    expect(await link.getAttribute('href')).to.equal(`/nodes/${idOf('node', 1)}`);
  });

  it('finds nodes by a part of their names, which is in the address', async () => {
    const page = await mount([node(1), node(2), node(12)]);
    await page.getByLabel('Search nodes by name').fill('E-1');
    await stage.untilEqual(names, ['node-1', 'node-12']);
    expect(await stage.page.evaluate('location.search')).to.equal('?q=E-1');
    await page.getByLabel('Search nodes by name').fill('nothing');
    await page.getByText('No node has this in its name').waitFor();
  });

  it('shows them as a list when asked, which is in the address', async () => {
    const busy = slot(0, { busy: true, utilization: 80, memory_used_mb: 40_960, temperature_c: 71 });
    const sick = slot(1, { utilization: 20, health: { state: 'foreign', reason: 'is used', since: NOW } });
    const page = await mount([node(1, { slots: [busy, sick] }), node(2, { slots: [], status: 'OFFLINE' })]);
    await page.getByRole('button', { name: 'List' }).click();
    const row = page.getByRole('row').nth(1);
    await row.getByText('1 of 2').waitFor();
    const texts = (await row.innerText()).split(/[\t\n]+/).map((text) => text.trim());
    expect(texts).to.include.members(['node-1', '1 not usable · 1 of 2', '50 %', '40 GiB', '71 °C']);
    expect(await stage.page.evaluate('location.search')).to.equal('?view=list');
    await stage.expectSound();
    await page.getByRole('button', { name: 'Cards' }).click();
    await stage.untilEqual(names, ['node-1', 'node-2']);
  });

  const free: [string, NodeRecord[], string | null][] = [
    ['all', [node(1)], '2 of 2 GPUs free'],
    ['some', [node(1, { slots: [slot(0, { busy: true }), slot(1)] }), node(2)], '3 of 4 GPUs free'],
    ['those of nodes that are online alone', [node(1), node(2, { status: 'OFFLINE' })], '2 of 2 GPUs free'],
    ['one', [node(1, { slots: [slot(0)] })], '1 of 1 GPU free'],
    ['none that there are', [node(1, { slots: [] })], null],
  ];
  for (const [what, nodes, text] of free) {
    it(`says how many GPUs are free: ${what}`, async () => {
      const page = await mount(nodes);
      await stage.untilEqual(async () => (await names()).length, nodes.length);
      await stage.untilEqual(() => page.locator('.summary').innerText(), text ?? '');
    });
  }

  const cards: [string, Partial<NodeRecord>, string[]][] = [
    [
      'its GPUs',
      { slots: [slot(0, { busy: true }), slot(1)] },
      ['1 busy · 1 free', 'NVIDIA H100 · 80 GiB', 'GPU 0', 'Busy', 'Free'],
    ],
    [
      'its host',
      { system: { cpu_count: 1, cpu_model: 'EPYC', ram_total_mb: 512, disk_total_gb: 1999.6, os: 'Linux' } },
      ['1 core · EPYC', '512 MiB', '1.8 TiB', 'Linux', 'host-1', '0.1.0'],
    ],
    [
      'what its GPUs and its host do now',
      {
        slots: [slot(0, { utilization: 63.4, memory_used_mb: 40_960, temperature_c: 61 }), slot(1)],
        system: { cpu_count: 2, ram_total_mb: 131_072, disk_total_gb: 1999.6 },
        live: {
          ts: NOW,
          cpu_util: 37.6,
          ram_used_mb: 65_536,
          disk_used_gb: 1000,
          disk_free_gb: 999.6,
          net_rx_bps: 0,
          net_tx_bps: 0,
        },
      },
      ['63 %', '61 °C', '40 / 80 GiB', '2 cores · 38 %', '128 GiB · 64 GiB used', '1.8 TiB · 931 GiB free'],
    ],
    ['jobs without a GPU', { cpu_jobs: 1, max_cpu_jobs: 4 }, ['1 of 4 CPU jobs']],
    ['its labels', { labels: { zone: 'a' } }, ['zone=a']],
    [
      'its runners',
      { runners: [{ name: 'docker', available: true, reason: null, version: '27.1' }] },
      ['docker (27.1)'],
    ],
    [
      'why a runner cannot work',
      { runners: [{ name: 'docker', available: false, reason: 'no socket', version: null }] },
      ['docker: no socket'],
    ],
    [
      'a runner that cannot work for no known reason',
      { runners: [{ name: 'docker', available: false, reason: null, version: null }] },
      ['docker: not available'],
    ],
    ['GPUs that are away with it', { status: 'OFFLINE' }, ['Offline']],
    [
      'a virtual GPU',
      { slots: [slot(0, { model: 'virtual', memory_total_mb: null, virtual: true })] },
      ['virtual · virtual, no device'],
    ],
    [
      'a GPU that takes no job, and why',
      {
        slots: [
          slot(0, {
            health: { state: 'foreign', reason: 'is used by python (pid 4711, alice, 10 GiB)', since: NOW },
          }),
          slot(1),
        ],
      },
      ['0 busy · 1 free · 1 foreign', 'Foreign', 'It is used by python (pid 4711, alice, 10 GiB).', 'Free'],
    ],
    [
      'a foreign process on a GPU that takes jobs all the same',
      {
        slots: [
          slot(0, { processes: [{ pid: 4711, name: 'Xorg', user: 'root', mem_mb: 80, job_id: null }] }),
        ],
      },
      ['Foreign: Xorg (pid 4711, root, 80 MiB)'],
    ],
    [
      'GPUs that differ',
      { slots: [slot(0), slot(1, { model: 'NVIDIA A100' })] },
      ['NVIDIA H100 · 80 GiB', 'NVIDIA A100 · 80 GiB'],
    ],
    ['a heartbeat that is old', { last_heartbeat_at: NOW - 5 * MINUTE }, ['5m ago']],
    ['that it drains', { status: 'DRAINING' }, ['Draining', 'Undrain']],
  ];
  for (const [what, changes, texts] of cards) {
    it(`shows of a node ${what}`, async () => {
      const page = await mount([node(1, changes)]);
      const card = page.locator('svc-node-card');
      for (const text of texts) await card.getByText(text).first().waitFor();
    });
  }

  it('names the jobs that hold slots', async () => {
    const slots = [
      slot(0, { busy: true, job_id: idOf('job', 1) }),
      slot(1, { busy: true, job_id: idOf('job', 2) }),
    ];
    const page = await mount([node(1, { slots })], {
      'GET /status': status({}, { total: 1, online: 1 }, [job(1)]),
    });
    expect(await page.getByRole('link', { name: 'job-1' }).getAttribute('href')).to.equal(
      `/jobs/${idOf('job', 1)}`,
    );
    await page.getByRole('link', { name: 'Job 000002' }).waitFor();
    await stage.expectSound();
  });

  describe('drain', () => {
    it('asks the server, and shows what came of it', async () => {
      const page = await mount([node(1)], { 'POST /nodes/{node_id}/drain': node(1, { status: 'DRAINING' }) });
      stage.api.change({ 'GET /nodes': { items: [node(1, { status: 'DRAINING' })] } });
      await page.getByRole('button', { name: 'Drain', exact: true }).click();
      await stage.page.getByRole('heading', { name: 'Drain node-1?' }).waitFor();
      expect(stage.api.count('POST')).to.equal(0);
      await stage.expectSound('the question');
      await stage.page.getByRole('button', { name: 'Drain the node' }).click();
      const undrain = page.getByRole('button', { name: 'Undrain', exact: true });
      await undrain.waitFor();
      expect(await undrain.evaluate((button) => button.matches(':focus')), 'the focus stays').to.equal(true);
      expect(stage.api.requests).to.include(`POST /nodes/${idOf('node', 1)}/drain`);
    });

    it('is taken back the same way', async () => {
      const page = await mount([node(1, { status: 'DRAINING' })], {
        'POST /nodes/{node_id}/undrain': node(1),
      });
      stage.api.change({ 'GET /nodes': { items: [node(1)] } });
      await page.getByRole('button', { name: 'Undrain', exact: true }).click();
      await stage.page.getByRole('button', { name: 'Undrain the node' }).click();
      await page.getByRole('button', { name: 'Drain', exact: true }).waitFor();
      expect(stage.api.requests).to.include(`POST /nodes/${idOf('node', 1)}/undrain`);
    });

    it('is not done by somebody who goes back', async () => {
      const page = await mount([node(1)]);
      await page.getByRole('button', { name: 'Drain', exact: true }).click();
      await stage.page.getByRole('button', { name: 'Back' }).click();
      await stage.page.getByRole('heading', { name: 'Drain node-1?' }).waitFor({ state: 'hidden' });
      expect(stage.api.count('POST')).to.equal(0);
    });

    it('says why it failed', async () => {
      await stage.mountApp({
        address: '/nodes',
        api: {
          'GET /nodes': { items: [node(1)] },
          'POST /nodes/{node_id}/drain': new Refusal(409, 'conflict', 'The node is offline.'),
        },
      });
      await stage.page.getByRole('button', { name: 'Drain', exact: true }).click();
      await stage.page.getByRole('button', { name: 'Drain the node' }).click();
      await stage.page.locator('svc-toasts li.error', { hasText: 'The node is offline.' }).waitFor();
      expect(await stage.page.getByRole('button', { name: 'Drain', exact: true }).isEnabled()).to.equal(true);
    });

    const hidden: [string, Partial<NodeRecord>, boolean][] = [
      ['a token that can only read', {}, false],
      ['a node that is offline', { status: 'OFFLINE' }, true],
    ];
    for (const [whom, changes, canWrite] of hidden) {
      it(`is not offered to ${whom}`, async () => {
        const page = await mount([node(1, changes)], {}, { canWrite });
        await stage.untilEqual(names, ['node-1']);
        expect(await page.getByRole('button', { name: /Drain|Undrain/ }).count()).to.equal(0);
      });
    }
  });

  it('asks again when something has happened', async () => {
    await mount([node(1)]);
    await stage.untilEqual(names, ['node-1']);
    stage.api.change({ 'GET /nodes': { items: [node(1), node(2)] } });
    await stage.push('/events/stream', [event(1, { node_id: idOf('node', 2) })]);
    await stage.untilEqual(names, ['node-1', 'node-2']);
  });

  it('keeps what it has when a refresh fails, and says so', async () => {
    const page = await mount([node(1)]);
    await stage.untilEqual(names, ['node-1']);
    stage.api.change({ 'GET /nodes': OFFLINE });
    await stage.push('/events/stream', [event(1)]);
    await page.getByText('This may be out of date.').waitFor();
    expect(await names()).to.deep.equal(['node-1']);
  });

  for (const [where, viewport] of Object.entries({ 'a desk': DESK, 'a phone': PHONE })) {
    it(`fits ${where} with very long texts`, async () => {
      const long = node(1, {
        name: LONG_NAME,
        hostname: LONG_NAME,
        labels: { [LONG_NAME.slice(0, 100)]: LONG_NAME },
        runners: [{ name: 'docker', available: false, reason: LONG_NAME, version: null }],
        slots: Array.from({ length: 16 }, (_, at) =>
          slot(at, { model: LONG_NAME, busy: true, job_id: idOf('job', 1) }),
        ),
      });
      await mount(
        [long, node(2, { name: HOSTILE })],
        { 'GET /status': status({}, { total: 2, online: 2 }, [job(1, { name: LONG_NAME })]) },
        { viewport },
      );
      await stage.untilEqual(async () => (await names()).sort(), [HOSTILE, LONG_NAME].sort());
      await stage.expectSound(where);
    });
  }
});
