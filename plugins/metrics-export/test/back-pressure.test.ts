import { definePlugin } from '@svc/kernel';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { metricsRef, type Metrics, type PointPage } from '@svc/plugin-metrics';
import { runsRef, type Runs } from '@svc/plugin-runs';
import type { ExportFormat } from '@svc/contract';
import { expect } from 'chai';
import { metricsExport } from '../src/index.js';

const RUN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';
const FORMATS: readonly ExportFormat[] = ['csv', 'jsonl', 'parquet'];

/** A run without end, which no store can hold: how far it is read shows what a client costs. */
class EndlessRun {
  pages = 0;
  isClosed = false;

  async *read(): AsyncGenerator<PointPage> {
    try {
      for (;;) {
        const start = (this.pages += 1) * 4096;
        const points = Array.from({ length: 4096 }, (_, index) => ({
          step: start + index,
          seq: start + index,
          ts: 1_700_000_000_000 + start,
          epoch: null,
          value: Math.sin(start + index),
        }));
        yield { name: 'loss', points };
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      this.isClosed = true;
    }
  }
}

describe('a client of an export', () => {
  let kernel: TestKernel;
  let source: EndlessRun;
  before(async () => {
    const store = definePlugin({
      name: 'metrics',
      setup: (ctx) => ctx.provide(metricsRef, { points: () => source.read() } as unknown as Metrics),
    });
    const runs = definePlugin({
      name: 'runs',
      setup: (ctx) => ctx.provide(runsRef, { require: async () => ({ id: RUN }) } as unknown as Runs),
    });
    kernel = await createTestKernel({ plugins: [store(), runs(), metricsExport()] });
  });
  after(() => kernel.close());
  beforeEach(() => void (source = new EndlessRun()));

  async function open(format: ExportFormat, signal: AbortSignal) {
    const headers = { Authorization: 'Bearer read' };
    const url = `${kernel.url}/api/v1/runs/${RUN}/metrics/export?format=${format}`;
    const answer = await fetch(url, { headers, signal });
    return answer.body!.getReader();
  }

  for (const format of FORMATS) {
    it(`that stops reading ${format} stops the reading of the run, and that goes on with it`, async () => {
      const gone = new AbortController();
      const body = await open(format, gone.signal);
      await body.read();
      const stoppedAt = await untilStill(() => source.pages);
      // The buffers of both ends of a connection take some MB.
      expect(stoppedAt).to.be.lessThan(250);
      while (source.pages === stoppedAt) await body.read();
      gone.abort();
      await until(() => source.isClosed);
    });

    it(`that goes away ends the export of ${format}`, async () => {
      const gone = new AbortController();
      const body = await open(format, gone.signal);
      await body.read();
      expect(source.isClosed).to.equal(false);
      gone.abort();
      await until(() => source.isClosed);
    });
  }
});

/** The value once it has not changed in thirty looks. */
async function untilStill(read: () => number): Promise<number> {
  let last = read();
  let looks = 0;
  await until(() => {
    looks = read() === last ? looks + 1 : 0;
    last = read();
    return looks >= 30;
  });
  return last;
}
