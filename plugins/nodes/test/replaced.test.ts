import { FakeAgent } from '@svc/agent/testing';
import { newId } from '@svc/contract';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { expect } from 'chai';
import { nodes, nodesRef, type Nodes } from '../src/index.js';
import { frameProbe, type FrameProbe } from './support/frame-probe.js';

describe('a connection that a newer one of the same node has replaced', () => {
  let kernel: TestKernel;
  let probe: FrameProbe;
  let service: Nodes;
  let older: FakeAgent;
  let newer: FakeAgent;
  const key = { job_id: newId('job'), attempt: 1 };

  beforeEach(async () => {
    probe = frameProbe();
    kernel = await createTestKernel({ plugins: [events(), nodes(), probe.plugin] });
    service = kernel.use(nodesRef);
    older = new FakeAgent({ url: kernel.url });
    await older.connect();
    newer = new FakeAgent({ url: kernel.url, hello: { node_id: older.nodeId } });
    newer.secret = older.secret;
  });
  afterEach(async () => {
    older.cut();
    await newer.close();
    await kernel.close();
  });

  const states = () => probe.frames.map(({ frame }) => (frame.type === 'attempt' ? frame.state : frame.type));

  it('has nothing to say any more: what comes on it is ignored', async () => {
    older.freeze();
    await newer.connect();
    older.accept(key);
    older.ended(key, { kind: 'exited', code: 0 });
    newer.running(key);
    await until(() => probe.frames.length > 0);
    expect(states()).to.deep.equal(['running']);
    expect(older.closed, 'it has not even noticed').to.equal(null);
  });

  it('has nothing to say any more: what came before and waits its turn is ignored too', async () => {
    let proceed = () => {};
    probe.hold = () => new Promise((resolve) => (proceed = resolve));
    older.accept(key);
    older.ended(key, { kind: 'exited', code: 0 });
    await until(() => probe.frames.length === 1);
    await newer.connect();
    expect(await older.gone()).to.include({ code: 4001 });
    probe.hold = null;
    proceed();
    newer.running(key);
    await until(() => probe.frames.length === 2);
    expect(states()).to.deep.equal(['accepted', 'running']);
  });

  it('is told nothing any more: dispatches go to the newer', async () => {
    older.freeze();
    await newer.connect();
    expect(service.send(older.nodeId, { type: 'forget', ...key })).to.equal(true);
    await newer.take('forget');
    expect(older.frames.map(({ type }) => type)).to.deep.equal(['welcome']);
  });

  it('takes nothing of the newer along when it ends', async () => {
    await newer.connect();
    await older.gone();
    newer.send({ type: 'heartbeat', ts: 1 });
    expect(service.send(older.nodeId, { type: 'forget', ...key })).to.equal(true);
    await newer.take('forget');
    const { body } = await kernel.request('GET', `/nodes/${older.nodeId}`, { token: 'read' });
    expect(body).to.include({ status: 'ONLINE' });
    const events = await kernel.request('GET', '/events?type=AGENT_DISCONNECTED', { token: 'read' });
    expect(events.body.items).to.deep.equal([]);
  });

  it('without the secret of the node replaces nothing', async () => {
    older.send({ type: 'heartbeat', ts: 1 });
    await until(async () => Boolean((await kernel.db('nodes').first()).secret_confirmed));
    newer.secret = 'stolen token, no secret';
    await newer.open();
    newer.send(newer.toHello());
    expect(await newer.take('refused')).to.include({ code: 'node_secret' });
    expect(service.send(older.nodeId, { type: 'forget', ...key })).to.equal(true);
    await older.take('forget');
    expect(older.closed).to.equal(null);
  });
});
