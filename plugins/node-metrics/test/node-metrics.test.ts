import { FakeAgent } from '@svc/agent/testing';
import { newId } from '@svc/contract';
import { createTestKernel, eachDatabase, fakeClock, until, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { nodes } from '@svc/plugin-nodes';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeMetrics } from '../src/index.js';
import { useNode } from './support/use-node.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

describe('node metrics', () => {
  eachDatabase((database) => {
    const node = useNode(database);
    const read = async (query = '') =>
      (await node.get(`/nodes/${node.agent.nodeId}/metrics${query}`)).body.series;
    const countChunks = async (resolution: string) =>
      (await node.kernel.db('node_metric_chunks').where({ resolution })).length;
    /** Lets what waits become old enough to be written, and waits for the agent to be told. */
    const passChunk = async () => {
      await node.clock.advance(6 * MINUTE_MS);
      return node.agent.take('node_metrics_ack');
    };

    it('goes with its node, and does not keep that of others from being written', async () => {
      const now = node.clock.now();
      const other = new FakeAgent({ url: node.kernel.url });
      await other.connect();
      const ts = [now - 2 * MINUTE_MS, now - 2000];
      other.send({ type: 'node_metrics', ts, values: { 'cpu.util': [1, 2] }, processes: [] });
      node.tell(ts, { 'cpu.util': [10, 20] });
      await node.heard(now - 2000);
      await node.kernel.request('POST', `/nodes/${node.agent.nodeId}/drain`, { token: 'write' });
      node.agent.cut();
      const forget = () => node.kernel.request('DELETE', `/nodes/${node.agent.nodeId}`, { token: 'write' });
      await until(async () => (await forget()).status === 200);
      await node.clock.advance(6 * MINUTE_MS);
      await other.take('node_metrics_ack');
      expect(await countChunks('raw')).to.equal(1);
      await other.close();
    });

    it('GET /nodes/{id}/metrics gives what was measured, by name, in the order of time', async () => {
      const now = node.clock.now();
      node.tell([now - 4000, now - 2000], { 'cpu.util': [10, 20], 'gpu.0.util': [null, 99] });
      await node.heard(now - 2000);
      expect(await read()).to.deep.equal({
        'cpu.util': { ts: [now - 4000, now - 2000], values: [10, 20], total: 2, downsampled: false },
        'gpu.0.util': { ts: [now - 2000], values: [99], total: 1, downsampled: false },
      });
      expect(Object.keys(await read('?names=gpu.0.util,unknown'))).to.deep.equal(['gpu.0.util']);
      expect((await read('?window_s=3'))['cpu.util'].values).to.deep.equal([20]);
      expect((await read(`?window_s=3&until=${now - 3000}`))['cpu.util'].values).to.deep.equal([10]);
      expect((await read('?limit=1'))['cpu.util']).to.include({ total: 2, downsampled: true });
    });

    it('GET /nodes/{id}/snapshot gives the newest value of each metric of the last 60 seconds', async () => {
      const now = node.clock.now();
      const processes = [{ gpu: 0, pid: 7, user: 'alice', name: 'python3', mem_mb: 512, job_id: null }];
      node.tell(
        [now - 62_000, now - 2000, now],
        { 'cpu.util': [1, 2, null], 'disk.free_gb': [5, null, null] },
        processes,
      );
      await node.heard(now);
      expect(await node.snapshot()).to.deep.equal({
        node_id: node.agent.nodeId,
        ts: now,
        metrics: { 'cpu.util': { value: 2, ts: now - 2000 } },
        processes,
        host_processes: [],
      });
      await node.clock.advance(60_001);
      expect(await node.snapshot()).to.deep.equal({
        node_id: node.agent.nodeId,
        ts: null,
        metrics: {},
        processes: [],
        host_processes: [],
      });
    });

    it('answers 404 for a node that nobody knows, and an empty answer for one that has told nothing', async () => {
      for (const what of ['metrics', 'snapshot'])
        expect((await node.get(`/nodes/${newId('node')}/${what}`)).status).to.equal(404);
      expect(await read()).to.deep.equal({});
      expect((await node.snapshot()).metrics).to.deep.equal({});
    });

    it('tells the agent what is stored once it is, full minutes first', async () => {
      const minute = Math.ceil(node.clock.now() / MINUTE_MS) * MINUTE_MS;
      node.tell([minute - 2000, minute - 1, minute + 2000], { 'cpu.util': [1, 2, 3] });
      await node.heard(minute + 2000);
      expect(node.agent.count('node_metrics_ack')).to.equal(0);
      expect(await passChunk()).to.include({ ts: minute - 1 });
      expect(await countChunks('raw')).to.equal(1);
      expect((await read())['cpu.util'].values).to.deep.equal([1, 2, 3]);
    });

    it('takes a sample that comes again once, whether the first was stored or not', async () => {
      const now = node.clock.now();
      node.tell([now, now + 2000], { 'cpu.util': [1, 2] });
      node.tell([now, now + 2000, now + 4000], { 'cpu.util': [7, 7, 3] });
      await node.heard(now + 4000);
      expect((await read())['cpu.util'].values).to.deep.equal([1, 2, 3]);
      node.tell([now + 3 * MINUTE_MS], { 'cpu.util': [4] });
      await node.heard(now + 3 * MINUTE_MS);
      await passChunk();
      node.tell([now, now + 3 * MINUTE_MS, now + 3 * MINUTE_MS + 1], { 'cpu.util': [7, 7, 5] });
      await node.heard(now + 3 * MINUTE_MS + 1);
      expect((await read())['cpu.util'].values).to.deep.equal([1, 2, 3, 4, 5]);
    });

    it('takes what is measured after the clock of the host was set back by more than an hour', async () => {
      const now = node.clock.now();
      node.tell([now], { 'cpu.util': [1] });
      await node.heard(now);
      node.tell([now - 2 * HOUR_MS], { 'cpu.util': [2] });
      await node.heard(now - 2 * HOUR_MS);
    });

    const tellLate = (ts: number[], values: Record<string, (number | null)[]>) =>
      node.agent.send({ type: 'node_metrics', ts, values, processes: [], late: true });
    const takeLateAck = async (ts: number) =>
      expect(await node.agent.take('node_metrics_ack')).to.deep.equal({
        type: 'node_metrics_ack',
        ts,
        late: true,
      });

    it('takes late samples beside those of the present, in their place, each once', async () => {
      const now = Math.ceil(node.clock.now() / MINUTE_MS) * MINUTE_MS;
      node.tell([now - 2 * HOUR_MS], { 'cpu.util': [1] });
      node.tell([now], { 'cpu.util': [9] }, [
        { gpu: 0, pid: 7, user: null, name: 'a', mem_mb: 1, job_id: null },
      ]);
      await node.heard(now);
      const [first, second, third] = [now - 90 * MINUTE_MS, now - 80 * MINUTE_MS, now - 70 * MINUTE_MS];
      tellLate([second, third], { 'cpu.util': [3, 4] });
      await takeLateAck(third);
      tellLate([first, second, third], { 'cpu.util': [2, 7, 7], 'ram.used_mb': [null, null, 5] });
      await takeLateAck(third);
      for (const state of ['before the live ones are stored', 'and after']) {
        const { ts, values } = (await read('?window_s=10800'))['cpu.util'];
        expect(values, state).to.deep.equal([1, 2, 3, 4, 9]);
        expect(ts, state).to.deep.equal([now - 2 * HOUR_MS, first, second, third, now]);
        await node.clock.advance(6 * MINUTE_MS);
      }
      node.tell([now + 7 * MINUTE_MS], { 'cpu.util': [10] });
      await node.heard(now + 7 * MINUTE_MS);
      expect((await node.snapshot()).metrics['cpu.util'].value).to.equal(10);
    });

    it('says nothing of the present by what came late', async () => {
      const now = node.clock.now();
      tellLate([now - 4000, now - 2000], { 'cpu.util': [1, 2] });
      await takeLateAck(now - 2000);
      expect((await node.snapshot()).ts).to.equal(null);
      node.tell([now], { 'cpu.util': [3] });
      await node.heard(now);
      expect((await read())['cpu.util'].values).to.deep.equal([1, 2, 3]);
    });

    it('confirms late samples that it has already once those are stored, and not before', async () => {
      const minute = Math.ceil(node.clock.now() / MINUTE_MS) * MINUTE_MS;
      node.tell([minute, minute + 2000], { 'cpu.util': [1, 2] });
      await node.heard(minute + 2000);
      tellLate([minute, minute + 2000, minute + 4000], { 'cpu.util': [7, 7, 3] });
      await until(async () => (await countChunks('raw')) === 1);
      expect(node.agent.count('node_metrics_ack'), 'two of them are in memory alone').to.equal(0);
      node.tell([minute + 61_000], { 'cpu.util': [4] });
      await node.heard(minute + 61_000);
      tellLate([minute, minute + 2000, minute + 4000], { 'cpu.util': [7, 7, 7] });
      expect(await node.agent.take('node_metrics_ack')).to.include({ ts: minute + 2000 });
      await takeLateAck(minute + 4000);
      expect((await read())['cpu.util'].values).to.deep.equal([1, 2, 3, 4]);
    });

    it('keeps the mean of a minute, whatever of that minute comes late, and takes the minutes around it', async () => {
      const start = Math.floor(node.clock.now() / MINUTE_MS) * MINUTE_MS - 25 * HOUR_MS;
      const rollUp = async () =>
        until(async () => {
          await node.clock.advance(5 * MINUTE_MS);
          return (await countChunks('raw')) === 0;
        });
      for (let round = 0; round < 2; round++) {
        tellLate([start + 1000, start + 2000], { 'cpu.util': [10, 20] });
        await takeLateAck(start + 2000);
        await rollUp();
      }
      tellLate([start + 30_000, start + MINUTE_MS, start + 2 * MINUTE_MS], { 'cpu.util': [70, 30, 40] });
      await takeLateAck(start + 2 * MINUTE_MS);
      await rollUp();
      const { ts, values } = (await read(`?window_s=${30 * 3600}`))['cpu.util'];
      expect(ts).to.deep.equal([start, start + MINUTE_MS, start + 2 * MINUTE_MS]);
      expect(values).to.deep.equal([15, 30, 40]);
    });

    it('loses no minute when two stretches that share one are rolled up one after the other', async () => {
      const start = Math.floor(node.clock.now() / MINUTE_MS) * MINUTE_MS - 24 * HOUR_MS - MINUTE_MS / 2;
      tellLate([start], { 'cpu.util': [10] });
      await takeLateAck(start);
      const later = [start + 2000, start + 40 * MINUTE_MS];
      tellLate(later, { 'cpu.util': [20, 50] });
      await takeLateAck(later[1]!);
      await until(async () => {
        await node.clock.advance(5 * MINUTE_MS);
        return (await countChunks('raw')) === 0;
      });
      expect((await read(`?window_s=${30 * 3600}`))['cpu.util'].values).to.deep.equal([10, 50]);
    });

    it('ignores columns of unequal length, and keeps the connection', async () => {
      const now = node.clock.now();
      node.tell([now - 1, now], { 'cpu.util': [1] });
      node.tell([now], { 'cpu.util': [5] });
      await node.heard(now);
      expect((await read())['cpu.util'].values).to.deep.equal([5]);
      expect(node.agent.closed).to.equal(null);
    });

    it('becomes means of a minute after a day', async () => {
      const start = Math.floor(node.clock.now() / MINUTE_MS) * MINUTE_MS - 25 * HOUR_MS;
      node.tell([start, start + 30_000, start + MINUTE_MS], { 'cpu.util': [10, 30, 50] });
      await node.heard(start + MINUTE_MS);
      node.tell([start + 2 * MINUTE_MS], { 'cpu.util': [60] });
      await node.heard(start + 2 * MINUTE_MS);
      await passChunk();
      await until(async () => {
        await node.clock.advance(5 * MINUTE_MS);
        return (await countChunks('raw')) === 0 && (await countChunks('minute')) > 0;
      });
      const series = (await read(`?window_s=${30 * 3600}`))['cpu.util'];
      expect(series.ts.slice(0, 2)).to.deep.equal([start, start + MINUTE_MS]);
      expect(series.values.slice(0, 2)).to.deep.equal([20, 50]);
    });

    it('goes after thirty days', async () => {
      node.tell([node.clock.now() - 31 * 24 * HOUR_MS], { 'cpu.util': [10] });
      node.tell([node.clock.now()], { 'cpu.util': [20] });
      await node.heard(node.clock.now());
      await passChunk();
      expect(await countChunks('raw')).to.equal(1);
      await until(async () => {
        await node.clock.advance(5 * MINUTE_MS);
        return (await countChunks('minute')) === 0;
      });
      expect((await read(`?window_s=${31 * 86_400}`))['cpu.util'].values).to.deep.equal([20]);
    });
  });

  it('is written when the server closes, and read again by the next', async () => {
    const clock = fakeClock();
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-node-metrics-'));
    const boot = () => createTestKernel({ plugins: [events(), nodes(), nodeMetrics()], clock, dataDir });
    const first = await boot();
    const agent = new FakeAgent({ url: first.url });
    await agent.connect();
    agent.send({
      type: 'node_metrics',
      ts: [clock.now()],
      values: { 'cpu.util': [42] },
      processes: [],
    });
    const read = async (kernel: TestKernel) =>
      (await kernel.request('GET', `/nodes/${agent.nodeId}/metrics`, { token: 'read' })).body.series[
        'cpu.util'
      ]?.values;
    await until(async () => (await read(first)) !== undefined);
    await agent.close();
    await first.close();
    const second = await boot();
    expect(await read(second)).to.deep.equal([42]);
    await second.close();
    rmSync(dataDir, { recursive: true });
  });
});
