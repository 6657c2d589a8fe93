import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { EventRecord } from '@svc/contract';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { expect } from 'chai';
import { createCuttingProxy, type CuttingProxy } from '../faults/cutting-proxy.js';
import { requireEngine } from '../support/engines.js';
import { ROOT } from '../support/program.js';

const CLIENTS = path.join(ROOT, 'test/fixtures/event-clients');

interface Client {
  readonly name: string;
  /** The program and its arguments; skips the test where it is not there. */
  command(context: Mocha.Context): readonly [string, ...string[]];
}

const clients: readonly Client[] = [
  {
    name: 'EventSource of the npm package eventsource',
    command: () => [process.execPath, path.join(CLIENTS, 'eventsource.mjs')],
  },
  {
    name: 'httpx-sse of Python',
    command(context) {
      const python = requireEngine(context, 'python');
      const packages = `PYTHONPATH=${requireEngine(context, 'httpx-sse')}`;
      return ['env', packages, python, path.join(CLIENTS, 'httpx_sse_client.py')];
    },
  },
];

describe('the stream of events, followed by programs that are not ours', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let proxy: CuttingProxy;
  let child: ChildProcess | undefined;

  beforeEach(async () => {
    kernel = await createTestKernel({ plugins: [events()] });
    proxy = await createCuttingProxy(Number(new URL(kernel.url).port));
  });
  afterEach(async () => {
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    child = undefined;
    await proxy.close();
    await kernel.close();
  });

  async function happen(count: number, severity: 'info' | 'warning' = 'warning'): Promise<EventRecord[]> {
    const { append } = kernel.use(eventsRef);
    const records: EventRecord[] = [];
    for (let index = 0; index < count; index += 1)
      await kernel.ctx.transaction(async (tx) => {
        const message = 'two\nlines, äöü 😀';
        records.push(await append(tx, { type: 'T', severity, title: String(index), message }));
      });
    return records;
  }

  for (const { name, command } of clients)
    it(`${name} gets every event once and in order, however often its connection is cut`, async function () {
      const [program, ...args] = command(this);
      const url = `${proxy.url}/api/v1/events/stream?severity=warning`;
      child = spawn(program, [...args, url, 'read'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const seen: string[] = [];
      let opened = 0;
      createInterface({ input: child.stdout! }).on('line', (line) => {
        if (line === 'open') opened += 1;
        else seen.push(line);
      });
      await until(() => opened === 1, { timeoutMs: 20_000 });
      // A client resumes behind the last event that it has: it has none before the first.
      const sent = await happen(1);
      await until(() => seen.length === 1);
      for (let round = 1; round <= 6; round += 1) {
        sent.push(...(await happen(5)));
        await happen(3, 'info');
        proxy.cut('reset', 'all');
        sent.push(...(await happen(5)));
        await until(() => opened === round + 1, { timeoutMs: 20_000 });
      }
      await until(() => seen.length >= sent.length, { timeoutMs: 20_000 });
      sent.push(...(await happen(1)));
      await until(() => seen.length >= sent.length);
      expect(seen).to.deep.equal(sent.map(({ id }) => `${id} ${id}`));
    });
});
