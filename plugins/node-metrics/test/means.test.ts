import { FakeAgent } from '@svc/agent/testing';
import { createTestKernel, eachDatabase, fakeClock, until } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { nodes } from '@svc/plugin-nodes';
import { expect } from 'chai';
import { nodeMetrics, nodeMetricsRef } from '../src/index.js';

const MINUTE_MS = 60_000;

describe('node metrics: means', () => {
  eachDatabase((database) => {
    it('over stored and unwritten samples of a time, each once, without what was not measured', async () => {
      const clock = fakeClock();
      const plugins = [events(), nodes({ offline_after_s: 86_400 }), nodeMetrics()];
      const kernel = await createTestKernel({ plugins, database, clock });
      const agent = new FakeAgent({ url: kernel.url });
      try {
        await agent.connect();
        const start = Math.ceil(clock.now() / MINUTE_MS) * MINUTE_MS;
        const tell = (ts: number[], values: Record<string, (number | null)[]>) =>
          agent.send({ type: 'node_metrics', ts, values, processes: [] });
        const means = (from: number, to: number) =>
          kernel.use(nodeMetricsRef).means(agent.nodeId, ['gpu.0.util', 'gpu.1.util'], from, to);
        tell([start, start + 2000, start + 4000, start + 2 * MINUTE_MS], {
          'gpu.0.util': [10, 20, 30, null],
          'cpu.util': [1, 1, 1, 1],
        });
        await until(async () => (await means(start, start + 4000)).size > 0);
        await clock.advance(10 * MINUTE_MS);
        await agent.take('node_metrics_ack');
        const later = start + 10 * MINUTE_MS;
        tell([later, later + 2000], { 'gpu.0.util': [100, null], 'gpu.1.util': [null, 7] });
        await until(async () => (await means(later, later + 2000)).size === 2);
        expect([...(await means(start, later + 2000))]).to.have.deep.members([
          ['gpu.0.util', 40],
          ['gpu.1.util', 7],
        ]);
        expect([...(await means(start + 2000, start + 4000))]).to.deep.equal([['gpu.0.util', 25]]);
        expect([...(await means(0, start - 1))]).to.deep.equal([]);
      } finally {
        await agent.close();
        await kernel.close();
      }
    });
  });
});
