import type { FakeAgent } from '@svc/agent/testing';
import {
  MAX_FRAME_BYTES,
  MAX_FRAME_SAMPLES,
  MAX_LINE_BYTES,
  newId,
  routes,
  type AttemptKey,
  type NodeMetricsFrame,
} from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { submit, untilJob } from '../../support/workplace.js';
import type { Lab } from '../lab.js';
import type { Row } from '../row.js';

const WHO = 'agent, write';

/** A job that runs on an agent of its own. */
export async function runOn(lab: Lab, name: string): Promise<{ agent: FakeAgent; key: AttemptKey }> {
  const agent = lab.agent(`${name}-${newId('node').slice(-6)}`);
  const { labels } = agent.toHello();
  await agent.connect();
  const job = await submit(lab.server.client, {
    command: ['true'],
    node_selector: labels,
    resources: { cpu_only: true },
  });
  const { job_id, attempt } = await agent.start({ job_id: job.id });
  await untilJob(lab.server.client, job.id, ({ status }) => status === 'RUNNING');
  return { agent, key: { job_id, attempt } };
}

/** A new agent is welcomed and has a job: whatever was sent before has been dealt with, or does not stand in the way. */
export async function expectAgentsWork(lab: Lab): Promise<void> {
  const { agent, key } = await runOn(lab, 'honest');
  agent.ended(key, { kind: 'exited', code: 0 });
  await untilJob(lab.server.client, key.job_id, ({ status }) => status === 'SUCCEEDED');
  await agent.close();
}

const logs = (key: AttemptKey, lines: readonly string[], to: number) =>
  JSON.stringify({
    type: 'logs',
    ...key,
    stream: 'stdout',
    from: 0,
    to,
    ts: Date.now(),
    lines,
    dropped: 0,
    end: false,
  });

type Send = (lab: Lab) => Promise<void>;

/** A frame of a job that runs; it is answered, or the connection is closed: by one of these codes, where some are given. */
function frameOfJob(
  make: (key: AttemptKey) => string,
  answer: 'logs_ack' | 'spool_ack',
  codes?: readonly number[],
): Send {
  return async (lab) => {
    const { agent, key } = await runOn(lab, 'sender');
    const frame = make(key);
    expect(Buffer.byteLength(frame)).to.be.at.most(MAX_FRAME_BYTES);
    agent.sendRaw(frame);
    await until(() => agent.closed ?? agent.count(answer) > 0, { timeoutMs: 60_000 });
    if (codes) expect(codes).to.include(agent.closed?.code);
    agent.cut();
    await expectAgentsWork(lab);
  };
}

/** A first frame for which the server closes the connection, by one of these codes, naming that limit. */
function closedFor(first: (agent: FakeAgent) => string | Buffer, codes: readonly number[], limit = ''): Send {
  return async (lab) => {
    const agent = lab.agent('stranger');
    await agent.open();
    agent.sendRaw(first(agent));
    await until(() => agent.closed, { timeoutMs: 60_000 });
    expect(codes).to.include(agent.closed?.code);
    expect(agent.closed?.reason).to.contain(limit);
    await expectAgentsWork(lab);
  };
}

const many = <Value>(count: number, make: (at: number) => [string, Value]) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)));

const hello = (change: object) => (agent: FakeAgent) => JSON.stringify({ ...agent.toHello(), ...change });

/** A plain socket, for what no agent sends. */
async function rawSocket({ server, tokens }: Lab): Promise<WebSocket> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/agent/ws`, {
    headers: { Authorization: `Bearer ${tokens.agent}` },
  });
  socket.on('error', () => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  return socket;
}

function flood(send: (socket: WebSocket, agent: FakeAgent) => void): Send {
  return async (lab) => {
    const socket = await rawSocket(lab);
    const agent = lab.agent('flood');
    socket.send(JSON.stringify(agent.toHello()));
    await new Promise((resolve) => socket.once('message', resolve));
    send(socket, agent);
    await expectAgentsWork(lab);
    socket.terminate();
  };
}

const row = (input: string, limit: string, send: Send): Row => ({
  input: `frame: ${input}`,
  who: WHO,
  limit,
  others: 'nothing',
  send,
});

const TOO_LARGE = [1009];
const MALFORMED = [1002, 1008];

/** Padded: as many as the values of a frame allow are almost as many bytes as a hello may have. */
const toSlot = (_: unknown, index: number) => ({
  index,
  uuid: `${index}`,
  model: 'm'.repeat(150),
  memory_total_mb: 1,
  virtual: true,
});

const toLabel = (at: number): [string, string] => [`l${at}`, 'x'.repeat(28)];

const toAttempt = () => ({
  job_id: newId('job'),
  attempt: 1,
  state: 'running',
  pid: 1,
  started_at: 1,
  exit: null,
  finished_at: null,
});

/** Columns of a frame that is almost as large as its values allow. */
function samples(count: number): NodeMetricsFrame {
  const ts = Array.from({ length: count }, (_, at) => Date.now() - 1000 * (count - at));
  const values = many(600, (at) => [`m${at}`, ts.map((_, index) => index)]);
  return { type: 'node_metrics', ts, values, processes: [], late: true };
}

export const FRAME_ROWS: readonly Row[] = [
  row('16 MiB of log in lines of 16 KiB', '16 MiB a frame', async (lab) => {
    const { agent, key } = await runOn(lab, 'sender');
    const count = Math.floor((MAX_FRAME_BYTES - 400) / (MAX_LINE_BYTES + 3));
    const to = count * (MAX_LINE_BYTES + 1);
    agent.sendRaw(logs(key, Array<string>(count).fill('x'.repeat(MAX_LINE_BYTES)), to));
    expect((await agent.take('logs_ack')).offset).to.equal(to);
    agent.cut();
    await expectAgentsWork(lab);
  }),
  row(
    '16 MiB of log in lines that are almost errors of memory and losses that are NaN',
    '16 MiB a frame',
    async (lab) => {
      const { agent, key } = await runOn(lab, 'sender');
      const almost = 'loss: na RESOURCE_EXHAUSTED: Out of memor CUDA out of memor '.repeat(250);
      const line = almost.slice(0, MAX_LINE_BYTES);
      const count = Math.floor((MAX_FRAME_BYTES - 400) / (MAX_LINE_BYTES + 3));
      const to = count * (MAX_LINE_BYTES + 1);
      agent.sendRaw(logs(key, Array<string>(count).fill(line), to));
      expect((await agent.take('logs_ack')).offset).to.equal(to);
      agent.cut();
      await expectAgentsWork(lab);
      const { items } = await lab.server.client.call(routes.listEvents, { query: { job_id: key.job_id } });
      expect(items.filter(({ type }) => type === 'OOM' || type === 'LOSS_NAN')).to.deep.equal([]);
    },
  ),
  row(
    '16 MiB of log in one line',
    'lines of 16 384 characters',
    frameOfJob(
      (key) => logs(key, ['x'.repeat(MAX_FRAME_BYTES - 400)], MAX_FRAME_BYTES),
      'logs_ack',
      MALFORMED,
    ),
  ),
  row(
    '5 million empty log lines',
    '200 000 values',
    frameOfJob((key) => logs(key, Array<string>(5_000_000).fill(''), 5_000_000), 'logs_ack'),
  ),
  row(
    '100 000 spool lines that are no records',
    '200 000 values',
    frameOfJob((key) => {
      const lines = Array.from({ length: 100_000 }, (_, at) => ({ to: 2 * at + 2, text: '[' }));
      return JSON.stringify({ type: 'spool', ...key, file: 'a.jsonl', from: 0, lines });
    }, 'spool_ack'),
  ),
  row('2 000 spool files of one bad line each', 'one event for each attempt', async (lab) => {
    const { agent, key } = await runOn(lab, 'sender');
    const files = 2_000;
    for (let at = 0; at < files; at++)
      agent.send({ type: 'spool', ...key, file: `${at}.jsonl`, from: 0, lines: [{ to: 2, text: '[' }] });
    await until(() => agent.count('spool_ack') === files, { timeoutMs: 60_000 });
    const query = { job_id: key.job_id, type: 'CUSTOM' as const };
    const { items } = await lab.server.client.call(routes.listEvents, { query });
    expect(items.map(({ title }) => title)).to.deep.equal(['At least 1 spooled record was refused']);
    agent.cut();
    await expectAgentsWork(lab);
  }),
  row(
    'a spool line of 15 MiB nested as deep as it goes',
    '16 MiB a frame',
    frameOfJob((key) => {
      const text = '['.repeat(15 * 1024 * 1024);
      return JSON.stringify({
        type: 'spool',
        ...key,
        file: 'a.jsonl',
        from: 0,
        lines: [{ to: text.length + 1, text }],
      });
    }, 'spool_ack'),
  ),
  row(
    'a frame of 17 MiB',
    '16 MiB',
    closedFor(() => `{"type":"heartbeat","ts":1,"x":"${'x'.repeat(17 * 1024 * 1024)}"}`, TOO_LARGE),
  ),
  row(
    'no JSON, 15 MiB',
    '4 MiB before hello',
    closedFor(() => '['.repeat(15 * 1024 * 1024), TOO_LARGE),
  ),
  row('no JSON, 15 MiB, after a good hello', '64 levels', async (lab) => {
    const agent = lab.agent('talker');
    await agent.connect();
    agent.sendRaw('['.repeat(15 * 1024 * 1024));
    expect((await agent.gone()).code).to.be.oneOf(MALFORMED);
    await expectAgentsWork(lab);
  }),
  row(
    'binary',
    'refused',
    closedFor(() => Buffer.alloc(1_000_000), MALFORMED),
  ),
  row(
    'before hello',
    'refused',
    closedFor(() => '{"type":"heartbeat","ts":1}', MALFORMED),
  ),
  row(
    'hello with 100 000 slots',
    '4 MiB before hello',
    closedFor(
      hello({
        slots: Array.from({ length: 100_000 }, toSlot),
      }),
      TOO_LARGE,
    ),
  ),
  row(
    'hello with 100 000 labels',
    '200 000 values',
    closedFor(hello({ labels: many(100_000, (at) => [`l${at}`, 'x']) }), MALFORMED, '200000 values'),
  ),
  row(
    'hello of almost 4 MiB with 17 500 slots',
    '1 024 slots',
    closedFor(
      hello({ slots: Array.from({ length: 17_500 }, toSlot) }),
      MALFORMED,
      'slots must have at most 1024 items',
    ),
  ),
  row(
    'hello of almost 4 MiB with 90 000 labels',
    '64 labels',
    closedFor(hello({ labels: many(90_000, toLabel) }), MALFORMED, 'labels must have at most 64 entries'),
  ),
  row('hello with 13 200 attempts', '200 000 values', async (lab) => {
    const agent = lab.agent('busy');
    await agent.open();
    agent.sendRaw(hello({ attempts: Array.from({ length: 13_200 }, toAttempt) })(agent));
    await until(() => agent.closed ?? agent.count('welcome') > 0, { timeoutMs: 60_000 });
    expect(agent.closed?.reason).to.equal(undefined);
    agent.cut();
    await expectAgentsWork(lab);
  }),
  row(
    'hello with 100 000 attempts',
    '4 MiB before hello',
    closedFor(hello({ attempts: Array.from({ length: 100_000 }, toAttempt) }), TOO_LARGE),
  ),
  row(
    'hello with 10 MiB of facts about the host',
    '4 MiB before hello',
    closedFor(
      (agent) => hello({ system: { ...agent.toHello().system, x: 'x'.repeat(10 * 1024 * 1024) } })(agent),
      TOO_LARGE,
    ),
  ),
  row('a second hello', 'refused', async (lab) => {
    const agent = lab.agent('twice');
    await agent.connect();
    agent.send(agent.toHello());
    expect((await agent.gone()).code).to.be.oneOf(MALFORMED);
    await expectAgentsWork(lab);
  }),
  row(
    '10 000 small ones at once',
    'what is in work: 32 MiB; not reached',
    flood((socket) => {
      for (let at = 0; at < 10_000; at++) socket.send(`{"type":"heartbeat","ts":${at}}`);
    }),
  ),
  row(
    '10 000 pings',
    'none',
    flood((socket) => {
      for (let at = 0; at < 10_000; at++) socket.ping('x'.repeat(100));
    }),
  ),
  row(
    'one in 10 000 fragments',
    '16 MiB; not reached',
    flood((socket) => {
      socket.send('{"type":"heartbeat","ts":1}', { fin: false });
      for (let at = 0; at < 10_000; at++) socket.send(' ', { fin: at === 9_999 });
    }),
  ),
  row(
    '10 000 questions whose answers are not read',
    'what is in work and what waits unread: 32 MiB each; not reached',
    async (lab) => {
      const { agent, key } = await runOn(lab, 'deaf');
      agent.freeze();
      for (let at = 0; at < 10_000; at++) agent.sendRaw(logs(key, ['x'.repeat(1000)], 1_001));
      await expectAgentsWork(lab);
      agent.cut();
    },
  ),
  row('300 samples of 600 metrics of a node, then 301', '300 samples', async (lab) => {
    const agent = lab.agent('measured');
    await agent.connect();
    const most = samples(MAX_FRAME_SAMPLES);
    agent.send(most);
    await until(() => agent.closed ?? agent.count('node_metrics_ack') > 0, { timeoutMs: 60_000 });
    expect(agent.closed?.reason).to.equal(undefined);
    expect((await agent.take('node_metrics_ack')).ts).to.equal(most.ts.at(-1));
    agent.sendRaw(JSON.stringify(samples(MAX_FRAME_SAMPLES + 1)));
    const { code, reason } = await agent.gone();
    expect(code).to.be.oneOf(MALFORMED);
    expect(reason).to.contain(`ts must have at most ${MAX_FRAME_SAMPLES} items`);
    await expectAgentsWork(lab);
  }),
  row("about another node's job", 'ignored', async (lab) => {
    const { agent: honest, key } = await runOn(lab, 'victim');
    const liar = lab.agent('liar');
    await liar.connect();
    liar.accept(key);
    liar.running(key);
    liar.ended(key, { kind: 'exited', code: 1 });
    liar.sendRaw(logs(key, ['a lie'], 6));
    await liar.close();
    await expectAgentsWork(lab);
    const params = { params: { job_id: key.job_id } };
    expect((await lab.server.client.call(routes.getJob, params)).status).to.equal('RUNNING');
    expect((await lab.server.client.call(routes.tailLogs, params)).lines).to.deep.equal([]);
    honest.ended(key, { kind: 'exited', code: 0 });
    await untilJob(lab.server.client, key.job_id, ({ status }) => status === 'SUCCEEDED');
  }),
];
