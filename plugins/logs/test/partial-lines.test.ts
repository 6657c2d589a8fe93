import type { LogStream, PartialFrame } from '@svc/contract';
import { MAX_LINE_BYTES } from '@svc/contract/protocol';
import { until, type SseClient } from '@svc/kernel/testing';
import { expect } from 'chai';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { EMPTY_STATE } from '../src/log-record.js';
import { logs } from '../src/index.js';
import { PartialLines } from '../src/partial-lines.js';
import { shipper } from './support/shipper.js';

const EVERY_MS = 1000;

describe('lines that have no end yet', () => {
  let rig: Rig;
  let agent: JobAgent;
  let id: string;
  let ship: ReturnType<typeof shipper>;
  const clients: SseClient[] = [];
  before(async () => {
    rig = await Rig.start({ plugins: [logs()] });
  });
  after(() => rig.close());
  beforeEach(async () => {
    agent = await rig.agent();
    ({ id } = await rig.submit({ node_selector: { node: agent.nodeId } }));
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    ship = shipper(agent, id);
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await agent.close();
  });

  const toFrame = (text: string, stream: LogStream = 'stdout'): PartialFrame => ({
    type: 'partial',
    job_id: id,
    attempt: 1,
    stream,
    ts: 5000,
    text,
  });
  const tail = async (query = '') => (await rig.get(`/jobs/${id}/logs${query}`)).body;
  /** Sends it, and waits until the server has it. */
  async function show(text: string, stream: LogStream = 'stdout'): Promise<void> {
    agent.send(toFrame(text, stream));
    await until(async () =>
      ((await tail()).partial ?? []).some((partial: object) => text === Reflect.get(partial, 'text')),
    );
  }
  const gone = () => until(async () => (await tail()).partial === undefined);
  async function follow(query = '', lastEventId?: string): Promise<SseClient> {
    const resumed = lastEventId === undefined ? {} : { lastEventId };
    const client = await rig.kernel.sse(`/jobs/${id}/logs/stream${query}`, {
      token: rig.tokens.read,
      ...resumed,
    });
    clients.push(client);
    return client;
  }
  const toEvent = (text: string, stream: LogStream = 'stdout') => ({
    id: null,
    event: 'partial',
    data: { stream, text },
  });

  it('are in the tail and the stream, without a seq, until their line is there', async () => {
    await ship.lines('stdout', ['first']);
    const client = await follow();
    expect(await client.take()).to.deep.include({ id: '0', event: null });
    await show(' 10%|#');
    expect((await tail()).partial).to.deep.equal([{ stream: 'stdout', text: ' 10%|#', ts: 5000 }]);
    expect(await client.take()).to.deep.equal(toEvent(' 10%|#'));
    await ship.lines('stdout', ['100%|##########']);
    const { id: seq, event, data } = await client.take();
    expect([seq, event, data.text]).to.deep.equal(['1', null, '100%|##########']);
    expect(await tail()).to.not.have.property('partial');
  });

  it('are not stored, not counted and not in the download', async () => {
    await show('Password: ');
    expect((await rig.get(`/jobs/${id}/logs/download`)).body).to.equal('');
    expect(await tail()).to.deep.include({ lines: [], dropped: 0 });
    await ship.lines('stdout', ['Password: given']);
    expect((await rig.get(`/jobs/${id}/logs/download`)).body).to.equal('Password: given\n');
    expect((await tail()).lines[0].seq).to.equal(0);
  });

  it('come with a stream that is opened later, also one that resumes', async () => {
    await ship.lines('stdout', ['one']);
    await show('two', 'stderr');
    const [fresh, resumed] = [await follow(), await follow('', '0')];
    expect((await fresh.take()).data.text).to.equal('one');
    for (const client of [fresh, resumed])
      expect(await client.take()).to.deep.equal(toEvent('two', 'stderr'));
  });

  it('change at most once a second for a client, however often the agent sends them', async () => {
    const client = await follow();
    await show('0');
    expect(await client.take()).to.deep.equal(toEvent('0'));
    const at = performance.now();
    for (const text of ['1', '2', '3']) agent.send(toFrame(text));
    await show('4');
    expect(await client.take()).to.deep.equal(toEvent('4'));
    expect(performance.now() - at).to.be.at.least(EVERY_MS - 50);
  });

  it('are one of each stream, and a line ends only that of its own', async () => {
    const client = await follow();
    await show('out');
    expect(await client.take()).to.deep.equal(toEvent('out'));
    await show('bar', 'stderr');
    expect(await client.take()).to.deep.equal(toEvent('bar', 'stderr'));
    await ship.lines('stdout', ['output']);
    expect((await client.take()).data.text).to.equal('output');
    expect((await tail()).partial).to.deep.equal([{ stream: 'stderr', text: 'bar', ts: 5000 }]);
  });

  it('are left out where another stream, or a search, was asked for', async () => {
    await show('bar', 'stderr');
    expect(await tail('?stream=stdout')).to.not.have.property('partial');
    expect((await tail('?stream=stderr')).partial).to.have.length(1);
    expect(await tail('?search=bar')).to.not.have.property('partial');
    const client = await follow('?stream=stdout');
    await ship.lines('stdout', ['line']);
    expect((await client.take()).data.text).to.equal('line');
  });

  for (const [how, take] of [
    ['the agent takes them back', () => agent.send(toFrame(''))],
    ['the connection of the agent is cut', () => agent.cut()],
  ] as const) {
    it(`go when ${how}`, async () => {
      const client = await follow();
      await show('half');
      expect(await client.take()).to.deep.equal(toEvent('half'));
      take();
      await gone();
      expect(await client.take()).to.deep.equal(toEvent(''));
    });
  }

  it('go with the attempt', async () => {
    await show('half');
    agent.ended({ job_id: id, attempt: 1 }, { kind: 'exited', code: 0 }, { finished_at: Date.now() });
    await rig.reach(id, 'SUCCEEDED');
    await gone();
  });

  it('are taken of the node of the attempt alone', async () => {
    const stranger = await rig.agent();
    stranger.send(toFrame('forged'));
    await show('mine', 'stderr');
    // The frames of one connection are dealt with in order: the answer to the second says that the first was.
    await shipper(stranger, id).lines('stdout', ['forged']);
    expect((await tail()).partial).to.deep.equal([{ stream: 'stderr', text: 'mine', ts: 5000 }]);
    await stranger.close();
  });

  it('of more than 16 KiB are no frame', async () => {
    agent.sendRaw(JSON.stringify(toFrame('x'.repeat(MAX_LINE_BYTES + 1))));
    expect((await agent.gone()).reason).to.match(/^partial frame: /);
  });

  it('take a bounded memory: those that have not changed for longest go', () => {
    const woken = new Set<string>();
    const partials = new PartialLines({ connectionOf: () => 1 }, ({ job_id }) => woken.add(job_id));
    const text = 'x'.repeat(MAX_LINE_BYTES);
    const of = (job: number) =>
      partials
        .of({ jobId: `job_${job}`, attempt: 1, state: EMPTY_STATE })
        .map((partial) => partial.text.length);
    for (let job = 0; job < 1000; job += 1) {
      const key = { job_id: `job_${job}`, attempt: 1 };
      partials.take(key, { ...toFrame(text), ...key }, { nodeId: 'node', connection: 1 });
    }
    const held = Array.from({ length: 1000 }, (_, job) => job).filter((job) => of(job).length > 0);
    expect(held.length * MAX_LINE_BYTES).to.be.within(3_000_000, 4_300_000);
    expect(held[0]).to.equal(1000 - held.length);
    expect(woken.size).to.equal(1000);
  });
});
