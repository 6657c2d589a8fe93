import type { EventRecord } from '@svc/contract';
import { eachDatabase, failureOf, fakeClock, until, type TestDatabase } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { nodeMetrics } from '@svc/plugin-node-metrics';
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { shipper } from '../../logs/test/support/shipper.js';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { detectors } from '../src/index.js';

type Settings = NonNullable<Parameters<typeof detectors>[0]>['settings'];

const pluginsOf = (settings: Settings = {}) => [logs(), metrics(), nodeMetrics(), detectors({ settings })];

eachDatabase((database: TestDatabase) => {
  describe('detectors on the server', function () {
    this.timeout(60_000);
    let rig: Rig;
    let agent: JobAgent;
    before(async () => {
      rig = await Rig.start({ database, plugins: pluginsOf() });
      agent = await rig.agent();
    });
    after(() => rig?.close());

    const eventsOf = async (run: string, type: string, on = rig): Promise<EventRecord[]> =>
      (await on.get(`/events?run_id=${run}&type=${type}`)).body.items;
    const told = (run: string, type: string, on = rig) =>
      until(async () => (await eventsOf(run, type, on))[0], type);

    async function write(
      run: { id: string; ingest_token: string },
      values: readonly unknown[],
      name = 'loss',
      on = rig,
    ) {
      const { body: series } = await on.get(`/runs/${run.id}/metrics?names=${name}`);
      const from = series.series?.[name]?.total ?? 0;
      const seqs = Math.floor(Math.random() * 1e12);
      const points = values.map((value, index) => ({ seq: seqs + index, step: from + index, name, value }));
      const answer = await on.post(`/runs/${run.id}/metrics:batch`, { points }, run.ingest_token);
      expect(answer.status).to.equal(200);
    }

    async function start() {
      const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
      await agent.startJob(id);
      const job = await rig.reach(id, 'RUNNING');
      return { job, ship: shipper(agent, id) };
    }

    it('LOSS_NAN: of a metric, with its run, seen by a stream and once', async () => {
      const stream = await rig.kernel.sse('/events/stream?type=LOSS_NAN', { token: rig.tokens.read });
      const run = await rig.createRun();
      await write(run, [1, 0.9, 'NaN', 'NaN']);
      for await (const { data } of stream) {
        const event = data as EventRecord;
        expect(event).to.include({ type: 'LOSS_NAN', severity: 'critical', run_id: run.id, job_id: null });
        expect(event.data).to.include({ metric: 'loss', step: 2, value: 'NaN', detector: 'loss-nan' });
        break;
      }
      await write(run, ['NaN', 'Infinity']);
      const other = await rig.createRun();
      await write(other, ['NaN']);
      await told(other.id, 'LOSS_NAN');
      expect(await eventsOf(run.id, 'LOSS_NAN')).to.have.length(1);
    });

    it('LOSS_NAN: of the log of a job, with its run, its job and its node', async () => {
      const { job, ship } = await start();
      await ship.lines('stdout', ['step 1 loss: 0.5', 'step 2 loss: nan token=hunter2']);
      const event = await told(job.run_id ?? '', 'LOSS_NAN');
      expect(event).to.include({ job_id: job.id, node_id: agent.nodeId });
      expect(event.message).to.include('loss: nan').and.not.include('hunter2');
      agent.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
    });

    it('LOSS_SPIKE and OVERFITTING_SUSPECTED', async () => {
      const run = await rig.createRun();
      await write(run, [...Array(20).fill(1), 9]);
      expect((await told(run.id, 'LOSS_SPIKE')).data).to.include({ step: 20, value: 9 });
      const other = await rig.createRun();
      for (const [training, validation] of [
        [1, 1],
        [0.8, 0.8],
        [0.6, 1],
        [0.4, 1.3],
        [0.3, 1.6],
      ] as const) {
        await write(other, [training], 'train/loss');
        await write(other, [validation], 'val/loss');
      }
      await told(other.id, 'OVERFITTING_SUSPECTED');
      expect(await eventsOf(other.id, 'LOSS_SPIKE')).to.deep.equal([]);
    });

    it('OOM: of the last lines, which come after the end, once for each attempt', async () => {
      const { job, ship } = await start();
      const line = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.';
      agent.end(job.id, { kind: 'exited', code: 1 });
      await rig.reach(job.id, 'FAILED');
      await ship.lines('stderr', ['Traceback (most recent call last):', line, line]);
      await ship.end();
      expect((await told(job.run_id ?? '', 'OOM')).data).to.include({ attempt: 1, seq: 1, memory: 'GPU' });
      await rig.post(`/jobs/${job.id}/retry`);
      await agent.startJob(job.id, 2);
      const second = await rig.reach(job.id, 'RUNNING');
      await shipper(agent, job.id, 2).lines('stderr', [line]);
      await told(second.run_id ?? '', 'OOM');
      expect((await rig.get(`/events?job_id=${job.id}&type=OOM`)).body.items).to.have.length(2);
      agent.end(job.id, { kind: 'exited', code: 1 }, 2);
    });

    it('a healthy run and an imported one raise nothing', async () => {
      const healthy = await rig.createRun();
      await write(
        healthy,
        Array.from({ length: 200 }, (_, index) => 2 / (1 + index)),
      );
      const imported = await rig.createRun({ source: 'import' });
      await write(imported, [1, 'NaN']);
      const last = await rig.createRun();
      await write(last, ['NaN']);
      await told(last.id, 'LOSS_NAN');
      const types = async (run: string) =>
        (await rig.get(`/events?run_id=${run}`)).body.items.map(({ type }: EventRecord) => type);
      expect(await types(healthy.id)).to.deep.equal(['RUN_STARTED']);
      expect(await types(imported.id)).to.not.include('LOSS_NAN');
    });

    it('a replay tells of the stored history what was told, and by other thresholds', async () => {
      const run = await rig.createRun();
      await write(run, [...Array(20).fill(1), 9, ...Array(5).fill(1), 'NaN']);
      await told(run.id, 'LOSS_NAN');
      const replay = (body: object, token = rig.tokens.read) =>
        rig.post(`/runs/${run.id}/detectors:replay`, body, token);
      const { status, body } = await replay({});
      expect(status).to.equal(200);
      expect(body).to.include({ run_id: run.id, points: 27, lines: 0, samples: 0, complete: true });
      const types = ({ findings }: { findings: { type: string }[] }) => findings.map(({ type }) => type);
      expect(types(body)).to.deep.equal(['LOSS_NAN', 'LOSS_SPIKE']);
      expect(body.findings[1]).to.include({ detector: 'loss-spike', severity: 'warning' });
      const settings = { 'loss-spike': { factor: 10 }, 'loss-nan': { enabled: false } };
      expect(types((await replay({ settings })).body)).to.deep.equal([]);
      const before = (await eventsOf(run.id, 'LOSS_NAN')).length;
      expect(before).to.equal(1);
      const refused = await replay({ settings: { 'loss-spike': { factor: 'x' } } });
      expect(refused.status).to.equal(422);
      expect(refused.body.error.details.errors[0].path).to.equal('settings.loss-spike.factor');
    });

    it('a replay ends although the training gave a point a time in the far future', async () => {
      const run = await rig.createRun();
      const points = [{ seq: 0, name: 'loss', step: 0, value: 1, ts: 8_640_000_000_000_000 }];
      expect((await rig.post(`/runs/${run.id}/metrics:batch`, { points })).status).to.equal(200);
      const { status, body } = await rig.post(`/runs/${run.id}/detectors:replay`, {}, rig.tokens.read);
      expect(status).to.equal(200);
      expect(body).to.include({ points: 1, complete: true });
    });

    it('a replay of a run of a job reads its log and the figures of its host', async () => {
      const { job, ship } = await start();
      const at = Date.now();
      const idle = { 'gpu.0.util': [0], 'disk.free_gb': [300], 'disk.total_gb': [1000] };
      agent.send({ type: 'node_metrics', ts: [at], values: idle, processes: [] });
      await ship.lines('stderr', ['step 1', 'RuntimeError: CUDA error: out of memory'], { ts: at });
      await told(job.run_id ?? '', 'OOM');
      await ship.end();
      agent.end(job.id, { kind: 'exited', code: 1 });
      await rig.reach(job.id, 'FAILED');
      const { body } = await rig.post(`/runs/${job.run_id}/detectors:replay`, {}, rig.tokens.read);
      expect(body.lines).to.equal(2);
      const types = body.findings.map(({ type }: { type: string }) => type);
      expect(types).to.include('OOM');
    });

    it('DISK_LOW: of the figures of a host, once', async () => {
      const send = (ts: number, free: number) =>
        agent.send({
          type: 'node_metrics',
          ts: [ts],
          values: { 'disk.free_gb': [free], 'disk.total_gb': [500] },
          processes: [],
        });
      for (const second of [1, 2, 3]) send(Date.now() + second, 7);
      const found = await until(async () => {
        const { items } = (await rig.get(`/events?node_id=${agent.nodeId}&type=DISK_LOW`)).body;
        return items[0] as EventRecord;
      }, 'DISK_LOW');
      expect(found).to.include({ severity: 'warning', run_id: null });
      expect(found.title).to.equal('7.0 GB of the disk are free (1.4 % of 500 GB)');
    });

    it('GPU_UNHEALTHY: of an error that the driver reports, with its node', async () => {
      const [ts, values] = [[Date.now() + 10_000], { 'gpu.1.xid': [79], 'cpu.util': [3] }];
      agent.send({ type: 'node_metrics', ts, values, processes: [] });
      const found = await until(async () => {
        const { items } = (await rig.get(`/events?node_id=${agent.nodeId}&type=GPU_UNHEALTHY`)).body;
        return items[0] as EventRecord;
      }, 'GPU_UNHEALTHY');
      expect(found).to.include({ severity: 'critical', run_id: null });
      expect(found.data).to.include({ gpu: 1, xid: 79 });
    });
  });
});

describe('detectors and a restart of the server', function () {
  this.timeout(60_000);
  let dataDir: string;
  beforeEach(async () => void (dataDir = await mkdtemp(path.join(os.tmpdir(), 'svc-detectors-'))));
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('begin with empty windows, and do not tell again what was told', async () => {
    const values = [...Array(20).fill(1), 'NaN'];
    const points = (from: number, some: readonly unknown[]) => ({
      points: some.map((value, index) => ({ seq: from + index, step: from + index, name: 'loss', value })),
    });
    let rig = await Rig.start({ dataDir, plugins: pluginsOf() });
    const run = await rig.createRun();
    const typesOf = async () =>
      (await rig.get(`/events?run_id=${run.id}`)).body.items.map(({ type }: EventRecord) => type) as string[];
    await rig.post(`/runs/${run.id}/metrics:batch`, points(0, values));
    await until(async () => (await typesOf()).includes('LOSS_NAN'));
    await rig.close();
    rig = await Rig.start({ dataDir, plugins: pluginsOf({ 'loss-spike': { points: 1 } }) });
    const sdk = rig.tokens.sdk;
    // Without a window 50 is no spike, and the NaN is known.
    await rig.post(`/runs/${run.id}/metrics:batch`, points(21, [50, 'NaN', ...Array(32).fill(1), 60]), sdk);
    await until(async () => (await typesOf()).includes('LOSS_SPIKE'));
    expect((await typesOf()).sort()).to.deep.equal(['LOSS_NAN', 'LOSS_SPIKE', 'RUN_STARTED']);
    const [spike] = (await rig.get(`/events?run_id=${run.id}&type=LOSS_SPIKE`)).body.items as EventRecord[];
    expect(spike?.data).to.include({ value: 60 });
    await rig.close();
  });

  it('RUN_STALLED: of a run that is silent, not of one that has ended and whose last points come', async () => {
    const clock = fakeClock();
    const settings = { 'run-stalled': { min_silence_s: 60, unknown_rhythm_s: 60 } };
    const rig = await Rig.start({ clock, plugins: pluginsOf(settings) });
    const runs = [await rig.createRun(), await rig.createRun()] as const;
    await rig.post(`/runs/${runs[1].id}/finish`, { status: 'SUCCEEDED' });
    for (const { id } of runs) {
      const points = [0, 1, 2].map((seq) => ({ seq, step: seq, name: 'acc', value: 1 }));
      await rig.post(`/runs/${id}/metrics:batch`, { points });
    }
    await clock.advance(400_000);
    const eventsOf = async (run: string) =>
      (await rig.get(`/events?run_id=${run}&type=RUN_STALLED`)).body.items;
    const [stalled] = await until(async () => {
      const items = await eventsOf(runs[0].id);
      return items.length > 0 && items;
    });
    expect(stalled).to.include({ severity: 'warning', title: 'Nothing has come from the run for 5 minutes' });
    expect(await eventsOf(runs[1].id)).to.deep.equal([]);
    await rig.close();
  });

  it('a mistake in the settings stops the start and is named', async () => {
    const boot = (settings: Settings) => failureOf(() => Rig.start({ plugins: pluginsOf(settings) }));
    expect((await boot({ 'loss-spikes': {} })).message).to.include('there is no detector "loss-spikes"');
    expect((await boot({ 'loss-spike': { factor: 1 } })).message).to.include('loss-spike.factor: ');
  });
});
