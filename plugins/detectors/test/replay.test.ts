import { strict, type Detector, type EventRecord } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import { until } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { expect } from 'chai';
import { Type } from 'typebox';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { shipper } from '../../logs/test/support/shipper.js';
import { Rig } from '../../runs/test/support/rig.js';
import { detectors } from '../src/index.js';

const MIB = 1024 * 1024;
const heapBytes: number[] = [];

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

const odd = strict({
  ms: Type.Number({ default: 0 }),
  fails: Type.Boolean({ default: false }),
  heap: Type.Boolean({ default: false }),
});

/** It takes its time, fails, or measures the memory, as its options say. */
const oddDetector: Detector<typeof odd, { ms: number; fails: boolean; heap: boolean; lines: number }> = {
  name: 'odd',
  of: 'run',
  takes: ['metric', 'log'],
  finds: [],
  optionsSchema: odd,
  init: (options) => ({ ...options, lines: 0 }),
  step(memory, input) {
    if (memory.fails) throw new Error('afraid');
    for (const end = performance.now() + memory.ms; performance.now() < end;);
    if (input.kind === 'log' && memory.heap && (memory.lines += 1) % 500 === 0) heapBytes.push(heapUsed());
    return { memory, findings: [] };
  },
};
const thirdParty = definePlugin({
  name: 'third-party',
  setup: (ctx) => ctx.hooks.detectors.tap(ctx.name, (all) => all.add(oddDetector)),
});

describe('a replay of detectors', function () {
  this.timeout(60_000);
  let rig: Rig;
  before(async () => {
    rig = await Rig.start({ plugins: [logs(), metrics(), nodeMetrics(), thirdParty(), detectors()] });
  });
  after(() => rig?.close());

  const replay = (run: string, settings = {}) =>
    rig.post(`/runs/${run}/detectors:replay`, { settings }, rig.tokens.read);
  const write = async (run: string, points: object[]) => {
    const numbered = points.map((point, seq) => ({ seq, ...point }));
    expect((await rig.post(`/runs/${run}/metrics:batch`, { points: numbered })).status).to.equal(200);
  };

  it('tells what was told of several metrics that came in one batch', async () => {
    const run = await rig.createRun();
    const losses = [1, 1, 0.8, 0.8, 0.6, 1, 0.4, 1.3, 0.3, 1.6, 0.2, 2];
    const names = ['train/loss', 'val/loss', 'a/loss'];
    const points = losses.map((value, index) => ({
      step: index >> 1,
      name: names[index % 2],
      value,
    }));
    await write(run.id, [...points, { step: 9, name: names[2], value: 'NaN' }]);
    const told = await until(async () => {
      const { items } = (await rig.get(`/events?run_id=${run.id}`)).body as { items: EventRecord[] };
      return items.some(({ type }) => type === 'LOSS_NAN') && items;
    });
    const live = told.filter(({ data }) => 'detector' in data).map(({ type, title }) => ({ type, title }));
    expect(live.map(({ type }) => type)).to.include('OVERFITTING_SUSPECTED');
    const { findings } = (await replay(run.id)).body as { findings: { type: string; title: string }[] };
    expect(findings.map(({ type, title }) => ({ type, title }))).to.have.deep.members(live);
  });

  it('ends when its caller has gone, so that the next one can begin', async () => {
    const [run, other] = [await rig.createRun(), await rig.createRun()];
    await write(
      run.id,
      Array.from({ length: 5_000 }, (_, step) => ({ step, name: 'x', value: 1, ts: 1_000 * step })),
    );
    const aborter = new AbortController();
    const gone = fetch(`${rig.kernel.url}/api/v1/runs/${run.id}/detectors:replay`, {
      method: 'POST',
      signal: aborter.signal,
      body: JSON.stringify({ settings: { odd: { ms: 4 } } }),
      headers: { Authorization: `Bearer ${rig.tokens.read}`, 'Content-Type': 'application/json' },
    }).catch(() => 'gone');
    await until(async () => (await replay(other.id)).status === 409);
    aborter.abort();
    expect(await gone).to.equal('gone');
    await until(async () => (await replay(other.id)).status === 200, { timeoutMs: 5_000 });
  });

  it('holds a small part of the log in memory', async () => {
    const agent = await rig.agent();
    const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
    await agent.startJob(id);
    const job = await rig.reach(id, 'RUNNING');
    const ship = shipper(agent, id);
    for (let frame = 0; frame < 60; frame += 1)
      await ship.lines('stdout', Array(50).fill('x'.repeat(15_000)) as string[]);
    const before = heapUsed();
    const { body } = await replay(job.run_id ?? '', { odd: { heap: true } });
    expect(body).to.include({ lines: 3_000, complete: true });
    expect(heapBytes.length).to.equal(6);
    expect((Math.max(...heapBytes) - before) / MIB).to.be.below(25);
  });

  it('names a detector that fails', async () => {
    const run = await rig.createRun();
    await write(run.id, [{ step: 0, name: 'x', value: 1 }]);
    const { status, body } = await replay(run.id, { odd: { fails: true } });
    expect(status).to.equal(422);
    expect(body.error.message).to.equal('the detector "odd" fails on the history of this run: afraid');
  });
});
