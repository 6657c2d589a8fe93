import { FakeAgent } from '@svc/agent/testing';
import { createTestKernel, fakeClock, until, type FakeClock, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodes, nodesRef } from '../src/index.js';
import { frameProbe, type FrameProbe } from './support/frame-probe.js';

describe('node liveness', () => {
  let clock: FakeClock;
  let kernel: TestKernel;
  let probe: FrameProbe;
  let dataDir: string;
  let agent: FakeAgent;

  const boot = async () => {
    probe = frameProbe();
    kernel = await createTestKernel({ plugins: [events(), nodes(), probe.plugin], clock, dataDir });
  };
  const node = async () => (await kernel.request('GET', `/nodes/${agent.nodeId}`, { token: 'read' })).body;
  const disconnections = async () =>
    (await kernel.request('GET', '/events?type=AGENT_DISCONNECTED', { token: 'read' })).body.items;
  /** Lets the checks of that time run, with their queries. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5000) {
      await clock.advance(Math.min(5000, ms - passed));
      await node();
    }
  };
  const heartbeat = async () => {
    const before = (await node()).last_heartbeat_at;
    agent.send({ type: 'heartbeat', ts: clock.now() });
    await until(async () => (await node()).last_heartbeat_at > before);
  };

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-liveness-'));
    clock = fakeClock();
    await boot();
    agent = new FakeAgent({ url: kernel.url });
    await agent.connect();
  });
  afterEach(async () => {
    await agent.close();
    await kernel.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('marks a node OFFLINE after 90 s without a heartbeat, not before, and cuts its connection', async () => {
    await pass(85_000);
    expect((await node()).status).to.equal('ONLINE');
    await pass(5_000);
    await until(async () => (await node()).status === 'OFFLINE');
    await until(() => agent.closed);
    expect(probe.changes.at(-1)?.after.status).to.equal('OFFLINE');
    await until(async () => (await disconnections()).length === 1);
    const [capacity] = await kernel.use(nodesRef).capacity(kernel.db);
    expect(capacity).to.include({ status: 'OFFLINE', connected: false });
    expect(capacity?.offline_at).to.be.a('number');
    expect(await kernel.use(nodesRef).count(kernel.db)).to.deep.equal({ total: 1, online: 0 });
  });

  it('keeps a node that sends heartbeats ONLINE', async () => {
    for (let round = 0; round < 8; round++) {
      await pass(25_000);
      await heartbeat();
    }
    expect((await node()).status).to.equal('ONLINE');
  });

  it('brings it back ONLINE at its next hello', async () => {
    await pass(90_000);
    await until(async () => (await node()).status === 'OFFLINE');
    await agent.connect();
    expect(await node()).to.include({ status: 'ONLINE' });
  });

  it('tells the first 5 disconnections of an agent that comes and goes, and then all others of 10 minutes in one event', async () => {
    const flap = async () => {
      agent.cut();
      await until(async () => (await node()).connected_at === null);
      await agent.connect();
    };
    const told = async () => (await disconnections()).map(({ title }: { title: string }) => title);
    for (let count = 1; count <= 5; count += 1) {
      await flap();
      await until(async () => (await disconnections()).length === count);
    }
    for (let count = 0; count < 7; count += 1) await flap();
    await pass(9 * 60_000);
    const once = 'Agent gpu-1 disconnected';
    expect(await told()).to.deep.equal(Array(5).fill(once));
    await pass(61_000);
    await until(async () => (await disconnections()).length === 6);
    expect((await told())[0]).to.match(/^Agent gpu-1 disconnected [78] times$/);
    // After an hour of peace each one is told at once again.
    await clock.advance(3_600_000);
    await agent.connect();
    await flap();
    await until(async () => (await disconnections()).length === 7);
    expect((await told())[0]).to.equal(once);
  });

  it('does not count a disconnection as silence before its time', async () => {
    agent.cut();
    await until(async () => (await node()).connected_at === null);
    await pass(60_000);
    expect((await node()).status).to.equal('ONLINE');
    await agent.connect();
    await pass(60_000);
    expect((await node()).status).to.equal('ONLINE');
  });

  it('gives every node 90 s after a restart of the server, and then reports those that stay away', async () => {
    await pass(80_000);
    await kernel.close();
    await clock.advance(3_600_000);
    await boot();
    await pass(85_000);
    expect(await node()).to.include({ status: 'ONLINE', connected_at: null });
    expect(await disconnections()).to.deep.equal([]);
    await pass(5_000);
    await until(async () => (await node()).status === 'OFFLINE');
    await until(async () => (await disconnections()).length === 1);
  });

  it('does not take its own standstill, or a jump of the clock, for silence of the agents', async () => {
    let nowMs = clock.now();
    const jumping = { ...clock, now: () => nowMs };
    await kernel.close();
    kernel = await createTestKernel({ plugins: [events(), nodes()], clock: jumping, dataDir });
    const returned = new FakeAgent({ url: kernel.url, hello: { node_id: agent.nodeId } });
    returned.secret = agent.secret;
    await returned.connect();
    for (const jumpMs of [3_600_000, -7_200_000]) {
      nowMs += jumpMs;
      await clock.advance(5000);
      await node();
      expect((await node()).status).to.equal('ONLINE');
    }
    await returned.close();
  });
});
