import { AGENT_PROTOCOL, Hello as HelloSchema } from '@svc/contract';
import { expect } from 'chai';
import { mkdir, rmdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Value } from 'typebox/value';
import { toSocketUrl } from '../../src/connection/connection.js';
import { toBackoffMs, toSlowBackoffMs } from '../../src/core/backoff.js';
import { defineAgentPlugin } from '../../src/index.js';
import { FakeServer, TOKEN, until } from '../../testing/index.js';
import { Bench, QUICK } from '../support/bench.js';

describe('agent: connection', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create();
  });
  afterEach(() => bench.close());

  const logs = (text: string) => bench.logged.filter((line) => line.includes(text));

  it('says who it is, in the form of the contract', async () => {
    const agent = await bench.connect({ labels: { zone: 'b' }, virtualGpus: 2, maxCpuJobs: 5 });
    const hello = await bench.server.frame('hello');
    expect(Value.Check(HelloSchema, hello)).to.equal(true);
    expect(hello).to.deep.include({
      protocol: AGENT_PROTOCOL,
      node_id: agent.nodeId,
      node_secret: null,
      name: 'node-1',
      hostname: os.hostname(),
      labels: { zone: 'b' },
      max_cpu_jobs: 5,
      runners: [{ name: 'process', available: true, reason: null, version: '1.2.3' }],
      attempts: [],
    });
    expect(hello.slots).to.deep.equal(
      [0, 1].map((index) => {
        return { index, uuid: `virtual-${index}`, model: 'virtual', memory_total_mb: null, virtual: true };
      }),
    );
    expect(hello.system).to.include({ cpu_count: os.cpus().length });
    expect(hello.system.ram_total_mb).to.be.greaterThan(0);
  });

  it('takes as many jobs without a GPU as there are CPUs, unless told otherwise', async () => {
    await bench.connect({ maxCpuJobs: undefined });
    expect((await bench.server.frame('hello')).max_cpu_jobs).to.equal(os.cpus().length);
  });

  it('offers a runner that fails to say whether it can run here as not available, with the reason', async () => {
    bench.runner.fingerprint = () => {
      throw new Error('no engine here');
    };
    await bench.connect();
    const { runners } = await bench.server.frame('hello');
    expect(runners).to.deep.equal([
      { name: 'process', available: false, reason: 'no engine here', version: null },
    ]);
  });

  it('offers no GPU where they cannot be told, and says so', async () => {
    const broken = { name: 'broken', discover: () => Promise.reject(new Error('driver mismatch')) };
    const plugin = defineAgentPlugin({
      name: 'broken',
      setup: (ctx) => ctx.hooks.slotSources.tap(ctx.name, (sources) => sources.add(broken)),
    });
    await bench.connect({ virtualGpus: undefined, plugins: [plugin()] });
    expect((await bench.server.frame('hello')).slots).to.deep.equal([]);
    expect(logs('driver mismatch')).to.have.length(1);
  });

  it('shows the secret of its first welcome from then on', async () => {
    await bench.connect();
    await bench.closeAgents();
    await bench.connect();
    const [first, second] = bench.server.all('hello');
    expect(first?.node_secret).to.equal(null);
    expect(second?.node_secret).to.equal('the-node-secret');
    expect(second?.node_id).to.equal(first?.node_id);
  });

  it('says nothing to a server whose secret it cannot keep, and shows none until it can', async () => {
    bench.server.silent = true;
    await bench.start({ timing: QUICK });
    await bench.server.frame('hello');
    const inTheWay = path.join(bench.stateDir, 'agent', `agent.json.${process.pid}.tmp`);
    await mkdir(inTheWay);
    bench.server.heartbeatMs = 1;
    bench.server.answerHello();
    await until(() => bench.server.all('hello').length >= 3, 'two more tries');
    await rmdir(inTheWay);
    await bench.server.frame('heartbeat');
    const types = bench.server.frames.map(({ type }) => type);
    expect(new Set(types.slice(0, types.indexOf('heartbeat')))).to.deep.equal(new Set(['hello']));
    expect(bench.server.all('hello').filter(({ node_secret }) => node_secret !== null)).to.deep.equal([]);
    expect(logs('cannot go on from its welcome')).not.to.deep.equal([]);
    await bench.closeAgents();
    await bench.connect();
    expect(bench.server.all('hello').at(-1)?.node_secret).to.equal('the-node-secret');
  });

  it('beats as often as the server says', async () => {
    bench.server.heartbeatMs = 20;
    await bench.connect();
    await until(() => bench.server.all('heartbeat').length >= 3, 'three heartbeats');
  });

  it('comes back after a cut', async () => {
    await bench.connect();
    bench.server.cut();
    await until(() => bench.server.welcomes === 2, 'the agent');
  });

  it('comes back at once to a server that asks for its hello, however often it was cut off before', async () => {
    await bench.start({ timing: { greetingMs: 5_000, pingMs: 2_000, stableMs: 60_000 } });
    for (let cuts = 1; cuts <= 5; cuts += 1) {
      await until(() => bench.server.welcomes === cuts, 'the agent');
      bench.server.cut();
    }
    await until(() => bench.server.welcomes === 6, 'the agent');
    bench.server.hangUp(4003, 'say hello again');
    await until(() => bench.server.welcomes === 7, 'the agent');
    expect(nextTryMs(logs('say hello again')[0])).to.be.at.most(250);
  });

  it('comes back to a server that was away', async () => {
    await bench.connect();
    const { port } = bench.server;
    await bench.server.close();
    await until(() => logs('cannot be reached').length > 0, 'the complaint');
    bench.server = await FakeServer.listen(port);
    await until(() => bench.server.welcomes === 1, 'the agent');
  });

  it('says a reason once, not at every try', async () => {
    const { port, url } = bench.server;
    await bench.server.close();
    await bench.start({ url });
    await until(() => logs('cannot be reached').length >= 3, 'three tries');
    expect(logs('cannot be reached').filter((line) => line.includes(' warn '))).to.have.length(1);
    bench.server = await FakeServer.listen(port);
  });

  it('cuts a connection that has gone silent', async () => {
    await bench.connect({ timing: QUICK });
    bench.server.freeze();
    await until(() => logs('it has gone silent').length > 0, 'the cut');
    await until(() => bench.server.welcomes === 2, 'the agent');
  });

  it('does not wait for ever for the answer to hello', async () => {
    bench.server.silent = true;
    await bench.start({ timing: QUICK });
    await until(() => logs('it did not answer hello').length > 0, 'the cut');
    bench.server.silent = false;
    await until(() => bench.server.welcomes === 1, 'the agent');
  });

  it('says in a sentence that it was refused, and goes on slowly', async () => {
    const message = 'This server speaks agent protocol 2, the agent 1: upgrade the agent.';
    bench.server.refusal = { type: 'refused', code: 'protocol_mismatch', message };
    await bench.start();
    await until(() => logs(message).length > 0, 'the sentence');
    expect(nextTryMs(logs(message)[0])).to.be.at.least(15_000);
    expect(bench.server.all('hello')).to.have.length(1);
  });

  it('says in a sentence that its token is not accepted, and goes on slowly', async () => {
    await bench.start({ token: 'svc_read_wrong' });
    await until(() => logs("refuses this agent's token: it is unknown").length > 0, 'the sentence');
    expect(nextTryMs(logs("refuses this agent's token")[0])).to.be.at.least(15_000);
    expect(bench.logged.join('')).not.to.include('svc_read_wrong');
  });

  it('says so in one line when its token is revoked while it is connected, and goes on slowly with its jobs', async () => {
    await bench.connect();
    bench.server.hangUp(4004, 'the token was revoked or has expired');
    await until(() => logs("refuses this agent's token").length > 0, 'the sentence');
    expect(nextTryMs(logs("refuses this agent's token")[0])).to.be.at.least(15_000);
    expect(logs('closed the connection')).to.deep.equal([]);
  });

  it('ignores frames that it does not know, and those that are malformed', async () => {
    await bench.connect();
    bench.server.sendRaw('{"type":"party","at":"eight"}');
    bench.server.sendRaw('{"type":"stop","job_id":"../../etc","attempt":1,"grace_ms":0}');
    bench.server.sendRaw('not JSON');
    bench.server.stop({ job_id: 'job_1', attempt: 1 }, 0);
    await bench.server.frame('attempt', ({ job_id }) => job_id === 'job_1');
    expect(bench.server.all('attempt')).to.have.length(1);
    expect(logs('a frame of the server was ignored')).to.have.length(2);
    expect(bench.server.welcomes).to.equal(1);
  });

  it('refuses a server without an address and an empty token at once', async () => {
    for (const wrong of [{ url: 'ftp://host' }, { url: 'host' }, { token: '' }]) {
      const error = await bench.start(wrong).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(TypeError);
    }
  });

  it('speaks to the path of the agents, below the path of the server', () => {
    expect(toSocketUrl('http://host:8600')).to.equal('ws://host:8600/api/v1/agent/ws');
    expect(toSocketUrl('https://host/svc/')).to.equal('wss://host/svc/api/v1/agent/ws');
  });

  it('is closed while it waits for its next try', async () => {
    await bench.start({ url: 'http://127.0.0.1:9', token: TOKEN });
    await until(() => logs('cannot be reached').length > 0, 'the first try');
    await bench.closeAgents();
  });
});

describe('agent: back-off', () => {
  it('doubles from a quarter of a second to half a minute, the upper half at random', () => {
    expect([1, 2, 3, 8, 9, 1000].map((failures) => toBackoffMs(failures, 0))).to.deep.equal([
      125, 250, 500, 15_000, 15_000, 15_000,
    ]);
    expect(toBackoffMs(1, 0.999)).to.be.closeTo(250, 1);
    expect(toBackoffMs(50, 0.999)).to.be.closeTo(30_000, 30);
  });

  it('is slow from the start after a refusal', () => {
    expect(toSlowBackoffMs(0)).to.equal(15_000);
  });
});

function nextTryMs(line = ''): number {
  return Number(/next_try_ms=(\d+)/.exec(line)?.[1]);
}
