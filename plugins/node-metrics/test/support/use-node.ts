import { FakeAgent } from '@svc/agent/testing';
import type { GpuProcess } from '@svc/contract';
import {
  createTestKernel,
  fakeClock,
  until,
  type FakeClock,
  type TestAnswer,
  type TestDatabase,
  type TestKernel,
} from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { nodes } from '@svc/plugin-nodes';
import { nodeMetrics } from '../../src/index.js';

/** A server with the plugin and a connected agent, new for each test of the suite that calls this. */
export function useNode(database: TestDatabase): MeasuredNode {
  const node = new MeasuredNode();
  beforeEach(() => node.start(database));
  afterEach(() => node.close());
  return node;
}

class MeasuredNode {
  clock!: FakeClock;
  kernel!: TestKernel;
  agent!: FakeAgent;

  async start(database: TestDatabase): Promise<void> {
    this.clock = fakeClock();
    const plugins = [events(), nodes({ offline_after_s: 86_400 }), nodeMetrics()];
    this.kernel = await createTestKernel({ plugins, database, clock: this.clock });
    this.agent = new FakeAgent({ url: this.kernel.url });
    await this.agent.connect();
  }

  async close(): Promise<void> {
    await this.agent.close();
    await this.kernel.close();
  }

  tell(ts: number[], values: Record<string, (number | null)[]>, processes: GpuProcess[] = []): void {
    this.agent.send({ type: 'node_metrics', ts, values, processes });
  }

  get(path: string): Promise<TestAnswer> {
    return this.kernel.request('GET', path, { token: 'read' });
  }

  async snapshot(): Promise<TestAnswer['body']> {
    return (await this.get(`/nodes/${this.agent.nodeId}/snapshot`)).body;
  }

  /** Waits until the server has the figures of that moment. */
  async heard(ts: number): Promise<void> {
    await until(async () => (await this.snapshot()).ts === ts);
  }
}
