import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { routes, type EventRecord } from '@svc/contract';
import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { events, eventsRef } from '@svc/plugin-events';
import { expect } from 'chai';
import { createCuttingProxy, type CuttingProxy } from '../faults/cutting-proxy.js';
import { requireEngine } from '../support/engines.js';
import { ROOT } from '../support/program.js';
import { createWorkplace, type Server, type Workplace } from '../support/workplace.js';

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

/** The client, following: `seen` has a line "ID ID" for each event, `opened` counts its connections. */
interface Follower {
  readonly child: ChildProcess;
  readonly seen: string[];
  opened: number;
}

function follow([program, ...args]: readonly [string, ...string[]], url: string, token: string): Follower {
  const child = spawn(program, [...args, url, token], { stdio: ['ignore', 'pipe', 'inherit'] });
  const follower: Follower = { child, seen: [], opened: 0 };
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'open') follower.opened += 1;
    else follower.seen.push(line);
  });
  return follower;
}

async function end({ child }: Follower): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'close');
}

const toLines = (events: readonly EventRecord[]): string[] => events.map(({ id }) => `${id} ${id}`);

describe('the stream of events, followed by programs that are not ours', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let proxy: CuttingProxy;
  let follower: Follower | undefined;

  beforeEach(async () => {
    kernel = await createTestKernel({ plugins: [events()] });
    proxy = await createCuttingProxy(Number(new URL(kernel.url).port));
  });
  afterEach(async () => {
    if (follower) await end(follower);
    follower = undefined;
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
      follower = follow(command(this), `${proxy.url}/api/v1/events/stream?severity=warning`, 'read');
      const { seen } = follower;
      await until(() => follower?.opened === 1, { timeoutMs: 20_000 });
      // A client resumes behind the last event that it has: it has none before the first.
      const sent = await happen(1);
      await until(() => seen.length === 1);
      for (let round = 1; round <= 6; round += 1) {
        sent.push(...(await happen(5)));
        await happen(3, 'info');
        proxy.cut('reset', 'all');
        sent.push(...(await happen(5)));
        await until(() => follower?.opened === round + 1, { timeoutMs: 20_000 });
      }
      await until(() => seen.length >= sent.length, { timeoutMs: 20_000 });
      sent.push(...(await happen(1)));
      await until(() => seen.length >= sent.length);
      expect(seen).to.deep.equal(toLines(sent));
    });
});

describe('the stream of events of a server that is killed', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let follower: Follower | undefined;

  beforeEach(() => (workplace = createWorkplace()));
  afterEach(async () => {
    if (follower) await end(follower);
    follower = undefined;
    await workplace.close();
  });

  /** Events of a run, one after another, until the server is gone; resolves with those that it has acknowledged. */
  async function report({ client }: Server, run_id: string, count: number): Promise<EventRecord[]> {
    const acknowledged: EventRecord[] = [];
    for (let index = 0; index < count; index += 1)
      try {
        const body = { title: `event ${index}` };
        acknowledged.push(await client.call(routes.createEvent, { params: { run_id }, body }));
      } catch {
        break;
      }
    return acknowledged;
  }

  for (const { name, command } of clients)
    it(`${name} gets every event once and in order over three kills`, async function () {
      const call = command(this);
      let server = await workplace.startServer();
      const { url } = server;
      const args = ['--port', new URL(url).port];
      const token = readFileSync(path.join(workplace.dataDir, 'token'), 'utf8').trim();
      const { id } = await server.client.call(routes.createRun, { body: { name: 'r' } });
      follower = follow(call, `${url}/api/v1/events/stream?type=CUSTOM`, token);
      const { seen } = follower;
      await until(() => follower?.opened === 1);
      // A client resumes behind the last event that it has: it has none before the first.
      const acknowledged = await report(server, id, 1);
      await until(() => seen.length === 1);
      for (let round = 0; round < 3; round += 1) {
        const reported = report(server, id, 10_000);
        const before = seen.length;
        await until(() => seen.length >= before + 20);
        server.kill('SIGKILL');
        await server.ended;
        acknowledged.push(...(await reported));
        server = await workplace.startServer({ args });
        // While the client still waits to connect again.
        acknowledged.push(...(await report(server, id, 5)));
      }
      const stored = await server.client.call(routes.listEvents, { query: { type: 'CUSTOM', limit: 1000 } });
      const wanted = toLines(stored.items.toReversed());
      await until(() => seen.length >= wanted.length, { timeoutMs: 30_000 });
      expect(seen).to.deep.equal(wanted);
      expect(seen).to.include.members(toLines(acknowledged));
    });
});
