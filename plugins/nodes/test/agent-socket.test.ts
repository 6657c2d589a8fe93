import { FakeAgent, toReport, virtualSlots } from '@svc/agent/testing';
import { newId } from '@svc/contract';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { expect } from 'chai';
import { nodes, nodesRef, type HelloContext, type Nodes, type WelcomePart } from '../src/index.js';
import { frameProbe, type FrameProbe } from './support/frame-probe.js';

describe('the agent socket', () => {
  let kernel: TestKernel;
  let probe: FrameProbe;
  let service: Nodes;
  const agents: FakeAgent[] = [];

  const agent = (options: Partial<ConstructorParameters<typeof FakeAgent>[0]> = {}) => {
    const created = new FakeAgent({ url: kernel.url, ...options });
    agents.push(created);
    return created;
  };
  const node = async (id: string) => (await kernel.request('GET', `/nodes/${id}`, { token: 'read' })).body;
  const eventsOf = async (type: string) =>
    (await kernel.request('GET', `/events?type=${type}`, { token: 'read' })).body.items;

  beforeEach(async () => {
    probe = frameProbe();
    kernel = await createTestKernel({ plugins: [events(), nodes(), probe.plugin] });
    service = kernel.use(nodesRef);
  });
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((each) => each.close()));
    await kernel.close();
  });

  it('asks for agent scope; write will do, read will not', async () => {
    await agent({ token: 'write' }).connect();
    const refused = await agent({ token: 'read' })
      .open()
      .then(
        () => null,
        (error: Error) => error.message,
      );
    expect(refused).to.contain('403');
  });

  it('takes what an agent says later of its runners, and tells it as a change of the node', async () => {
    const one = agent();
    await one.connect();
    const runners = [{ name: 'process', available: false, reason: 'the engine has stopped', version: null }];
    one.send({ type: 'runners', runners });
    await until(async () => (await node(one.nodeId)).runners[0].available === false);
    expect(await node(one.nodeId)).to.deep.include({ runners, status: 'ONLINE' });
    await until(() => probe.changes.at(-1)?.after.runners[0]?.available === false);
  });

  it('registers a node at its first hello', async () => {
    const one = agent({ hello: { labels: { zone: 'a' }, slots: virtualSlots(2) } });
    const welcome = await one.connect();
    expect(welcome).to.include({ type: 'welcome', protocol: 1, node_id: one.nodeId, heartbeat_ms: 25_000 });
    expect(await node(one.nodeId)).to.deep.include({
      id: one.nodeId,
      name: 'gpu-1',
      status: 'ONLINE',
      labels: { zone: 'a' },
      busy: false,
      cpu_jobs: 0,
      max_cpu_jobs: 4,
    });
    expect((await kernel.request('GET', '/nodes', { token: 'read' })).body.items).to.have.length(1);
    expect(probe.changes.at(-1)).to.include({ before: null });
  });

  it('stores only the hash of the secret, and asks for it ever after', async () => {
    const one = agent();
    const { node_secret } = await one.connect();
    expect(JSON.stringify(await kernel.db('nodes').select())).not.to.contain(node_secret);
    one.send({ type: 'heartbeat', ts: 1 });
    await until(async () => Boolean((await kernel.db('nodes').first()).secret_confirmed));
    await one.close();

    const withoutIt = agent({ hello: { node_id: one.nodeId } });
    await withoutIt.open();
    withoutIt.send(withoutIt.toHello());
    expect(await withoutIt.take('refused')).to.include({ code: 'node_secret' });
    await until(() => withoutIt.closed?.code === 4000);

    const withAnother = agent({ hello: { node_id: one.nodeId } });
    await withAnother.open();
    withAnother.send(withAnother.toHello({ node_secret: 'guessed' }));
    expect((await withAnother.take('refused')).message).to.contain('is not that of');

    expect((await one.connect()).node_secret).to.equal(node_secret);
  });

  it('gives an agent that died before it could keep its secret another one', async () => {
    const one = agent();
    await one.connect();
    one.cut();
    one.secret = null;
    const { node_secret } = await one.connect();
    one.send({ type: 'heartbeat', ts: 1 });
    await until(async () => Boolean((await kernel.db('nodes').first()).secret_confirmed));
    expect(one.secret).to.equal(node_secret);
  });

  it('refuses another protocol version with a sentence', async () => {
    const one = agent();
    await one.open();
    one.sendRaw(JSON.stringify({ type: 'hello', protocol: 99, anything: true }));
    const refused = await one.take('refused');
    expect(refused.code).to.equal('protocol');
    expect(refused.message).to.contain('install the agent of the server');
    await until(() => one.closed);
    expect((await kernel.request('GET', '/nodes', { token: 'read' })).body.items).to.deep.equal([]);
  });

  it('refuses a malformed node id', async () => {
    const one = agent({ hello: { node_id: 'gpu-1' } });
    await one.open();
    one.send(one.toHello());
    expect(await one.take('refused')).to.include({ code: 'node_id' });
  });

  it('closes on a malformed frame with the reason, and nothing is changed by it', async () => {
    const one = agent();
    await one.connect();
    one.sendRaw('{"type":"accepted","job_id":7,"attempt":1}');
    const closed = await one.gone();
    expect(closed).to.include({ code: 1008 });
    expect(closed.reason).to.contain('job_id must be a string');
    expect(probe.frames).to.deep.equal([]);
  });

  it('closes on a frame before the hello, and on a second hello', async () => {
    const early = agent();
    await early.open();
    early.send({ type: 'heartbeat', ts: 1 });
    expect((await early.gone()).reason).to.contain('the first frame must be a hello');

    const twice = agent();
    await twice.connect();
    twice.send(twice.toHello());
    expect((await twice.gone()).reason).to.contain('a second hello');
  });

  it('hands frames of one job over in order, one at a time', async () => {
    const one = agent();
    await one.connect();
    const key = { job_id: newId('job'), attempt: 1 };
    const finish: (() => void)[] = [];
    probe.hold = () => new Promise<void>((resolve) => finish.push(resolve));
    one.accept(key);
    one.running(key);
    await until(() => probe.frames.length === 1);
    const other = { job_id: newId('job'), attempt: 1 };
    one.running(other);
    await until(() => probe.frames.length === 2);
    probe.hold = null;
    for (const each of finish) each();
    await until(() => probe.frames.length === 3);
    expect(probe.frames.map(({ frame }) => [frame.type, 'job_id' in frame && frame.job_id])).to.deep.equal([
      ['accepted', key.job_id],
      ['attempt', other.job_id],
      ['attempt', key.job_id],
    ]);
  });

  it('closes the connection when a frame cannot be dealt with, so that the agent repeats it', async () => {
    const one = agent();
    await one.connect();
    probe.hold = () => Promise.reject(new Error('disk full'));
    one.accept({ job_id: newId('job'), attempt: 1 });
    expect(await one.gone()).to.include({ code: 1011 });
  });

  it('lets a newer connection of the node replace the older, and AGENT_DISCONNECTED does not fire', async () => {
    const one = agent();
    await one.connect();
    const first = service.connectionOf(one.nodeId);
    const again = agent({ hello: { node_id: one.nodeId } });
    again.secret = one.secret;
    await again.connect();
    expect(await one.gone()).to.include({ code: 4001 });
    expect(service.connectionOf(one.nodeId)).to.be.greaterThan(first!);
    expect((await node(one.nodeId)).connected_at).to.be.a('number');
    expect(await eventsOf('AGENT_DISCONNECTED')).to.deep.equal([]);
  });

  it('answers hello with what the plugins say, and sends frames of the meantime after the welcome', async () => {
    const one = agent();
    const key = { job_id: newId('job'), attempt: 1 };
    probe.onHello = async ({ hello }: HelloContext): Promise<WelcomePart> => {
      expect(service.send(hello.node_id, { type: 'forget', ...key })).to.equal(true);
      await Promise.resolve();
      return {
        verdicts: [{ ...key, verdict: 'keep' }],
        log_positions: [{ ...key, stream: 'stdout', offset: 7, lines: 1 }],
      };
    };
    const welcome = await one.connect({ attempts: [toReport(key)] });
    expect(welcome.verdicts).to.deep.equal([{ ...key, verdict: 'keep' }]);
    expect(welcome.log_positions).to.deep.equal([{ ...key, stream: 'stdout', offset: 7, lines: 1 }]);
    await one.take('forget');
    expect(one.frames.map(({ type }) => type)).to.deep.equal(['welcome', 'forget']);
  });

  it('tells listeners of a reboot by the boot id', async () => {
    const rebooted: boolean[] = [];
    probe.onHello = (context) => {
      rebooted.push(context.rebooted);
      return Promise.resolve({});
    };
    const one = agent();
    await one.connect();
    await one.close();
    await one.connect();
    await one.close();
    await one.connect({ boot_id: 'boot-2' });
    expect(rebooted).to.deep.equal([false, false, true]);
  });

  it('reports a lost connection as an event and nothing else: AGENT_DISCONNECTED fires, the node stays ONLINE', async () => {
    const one = agent();
    await one.connect();
    one.cut();
    const [event] = await until(async () => {
      const items = await eventsOf('AGENT_DISCONNECTED');
      return items.length > 0 && items;
    });
    expect(event).to.include({
      severity: 'warning',
      node_id: one.nodeId,
      title: 'Agent gpu-1 disconnected',
    });
    expect(await node(one.nodeId)).to.include({ status: 'ONLINE', connected_at: null });
    expect(service.send(one.nodeId, { type: 'forget', job_id: 'x', attempt: 1 })).to.equal(false);
  });

  it('can ask an agent to say hello again', async () => {
    const one = agent();
    await one.connect();
    service.reconnect(one.nodeId, 'say it again');
    expect(await one.gone()).to.deep.equal({ code: 4003, reason: 'say it again' });
  });

  it('drains and undrains', async () => {
    const one = agent();
    await one.connect();
    const drained = await kernel.request('POST', `/nodes/${one.nodeId}/drain`, { token: 'write' });
    expect(drained.body.status).to.equal('DRAINING');
    expect(probe.changes.at(-1)?.after.status).to.equal('DRAINING');
    const [capacity] = await service.capacity(kernel.db);
    expect(capacity).to.include({ status: 'DRAINING', connected: true });
    expect(
      (await kernel.request('POST', `/nodes/${one.nodeId}/undrain`, { token: 'write' })).body.status,
    ).to.equal('ONLINE');
  });

  it('answers 404 for unknown and malformed node ids, 403 without write scope', async () => {
    for (const id of [newId('node'), 'nonsense', newId('job')]) {
      expect((await kernel.request('GET', `/nodes/${id}`, { token: 'read' })).status).to.equal(404);
      expect((await kernel.request('POST', `/nodes/${id}/drain`, { token: 'write' })).status).to.equal(404);
    }
    expect(
      (await kernel.request('POST', `/nodes/${newId('node')}/drain`, { token: 'read' })).status,
    ).to.equal(403);
    const one = agent();
    await one.connect();
    expect((await node(one.nodeId.replace('node_', '').toLowerCase())).id).to.equal(one.nodeId);
  });
});
