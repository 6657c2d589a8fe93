/**
 * Many clients of the event stream on the built server, some of which never read:
 * 1. Events are reported at a fixed rate. Each client that reads must get every one, once and in order. Processor time and memory of the server, age
 *    of an event at a client.
 * 2. The same with large events and few readers, so that what the others do not read exceeds every buffer of the system.
 * 3. The clients that did not read come again with Last-Event-ID: all of them must get every event.
 * Usage: npm run bench -- event-stream [--clients 1000] [--idle 100] [--rate 50] [--seconds 60]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { routes } from '@svc/contract';
import { createWorkplace, type Server } from '../test/support/workplace.js';
import { StreamClient } from './event-stream/stream-client.js';
import { MemoryWatch } from './support/memory.js';
import { cpuSecondsOf } from './support/process-tree.js';
import { printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '1000' },
    idle: { type: 'string', default: '100' },
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '60' },
  },
});
const rate = Number(values.rate);
const seconds = Number(values.seconds);
const idleCount = Number(values.idle);
/** How many of the readers note the ages. */
const MEASURED = 50;
const CATCH_UP_MS = 60_000;
/** Reports that have not been answered. */
const MOST_ASKED = 16;
/** Before every other id. */
const LEAST_ID = `evt_${'0'.repeat(26)}`;

class Reporter {
  /** The number of the next event. */
  next = 0;

  constructor(
    private readonly server: Server,
    private readonly runId: string,
  ) {}

  /** At that rate, as long as the server answers in time. */
  async report(count: number, perSecond: number, message: string): Promise<void> {
    const startMs = performance.now();
    const asked = new Set<Promise<unknown>>();
    for (let index = 0; index < count; index += 1) {
      const waitMs = startMs + (index * 1000) / perSecond - performance.now();
      if (waitMs > 0) await delay(waitMs);
      const asking: Promise<unknown> = this.#report(message).finally(() => asked.delete(asking));
      asked.add(asking);
      if (asked.size >= MOST_ASKED) await Promise.race(asked);
    }
    await Promise.all(asked);
  }

  async #report(message: string): Promise<void> {
    const body = { title: `e${this.next}`, message };
    this.next += 1;
    await this.server.client.call(routes.createEvent, { params: { run_id: this.runId }, body });
  }
}

interface Round {
  readonly cores: number;
  readonly grownMb: number;
  readonly rate: number;
  readonly lateMs: number;
  readonly readers: readonly StreamClient[];
  readonly cutIdlers: number;
}

async function play(server: Server, token: string, reporter: Reporter, readerCount: number, message: string) {
  const readers = Array.from({ length: readerCount }, (_, index) => new StreamClient(index < MEASURED));
  const idlers = Array.from({ length: idleCount }, () => new StreamClient(false));
  const target = { url: server.url, token };
  for (const client of readers) await client.open(target);
  for (const client of idlers) await client.open(target, false);
  const memory = new MemoryWatch(server.pid);
  const cpuBefore = cpuSecondsOf(server.pid);
  const startMs = performance.now();
  await reporter.report(rate * seconds, rate, message);
  const endMs = performance.now();
  const isBehind = ({ numbers }: StreamClient): boolean => numbers.length < rate * seconds;
  while (readers.some(isBehind) && performance.now() - endMs < CATCH_UP_MS) await delay(5);
  const tookS = (performance.now() - startMs) / 1000;
  const round: Round = {
    cores: (cpuSecondsOf(server.pid) - cpuBefore) / tookS,
    grownMb: memory.grownMb,
    rate: (rate * seconds) / ((endMs - startMs) / 1000),
    lateMs: performance.now() - endMs,
    cutIdlers: idlers.filter(({ isOpen }) => !isOpen).length,
    readers,
  };
  for (const client of [...readers, ...idlers]) client.close();
  return round;
}

/** How many got every event once, and in the order that all others got. */
function countComplete(clients: readonly StreamClient[], wanted: number): number {
  const order = JSON.stringify(clients[0]?.numbers);
  return clients.filter(
    ({ numbers }) => new Set(numbers).size === wanted && JSON.stringify(numbers) === order,
  ).length;
}

function toRows(
  name: string,
  { cores, grownMb, rate: reached, lateMs, readers, cutIdlers }: Round,
): string[][] {
  const complete = countComplete(readers, rate * seconds);
  const [median, p99] = summarise(readers.flatMap(({ agesMs }) => agesMs));
  return [
    [`${name}: events`, String(rate), reached.toFixed(1), 'a second'],
    [
      `${name}: readers that got each event once and in order`,
      String(readers.length),
      String(complete),
      'clients',
    ],
    [`${name}: server, processor`, '<= 1', cores.toFixed(2), 'cores'],
    [`${name}: server, peak above idle`, '', grownMb.toFixed(0), 'MB'],
    [`${name}: last event at the last reader`, '', lateMs.toFixed(0), 'ms after its answer'],
    [`${name}: event at a client, median`, '', median, 'ms'],
    [`${name}: event at a client, p99`, '<= 500', p99, 'ms'],
    [`${name}: clients that never read, disconnected`, '', String(cutIdlers), `of ${idleCount}`],
  ];
}

/** Every event since the first, at clients that come back. */
async function replay(
  server: Server,
  token: string,
  reporter: Reporter,
): Promise<{ complete: number; ms: number }> {
  const clients = Array.from({ length: idleCount }, () => new StreamClient(false));
  const startMs = performance.now();
  const target = { url: server.url, token, lastEventId: LEAST_ID };
  for (const client of clients) await client.open(target);
  const isBehind = ({ numbers }: StreamClient): boolean => numbers.length < reporter.next;
  while (clients.some(isBehind) && performance.now() - startMs < 2 * CATCH_UP_MS) await delay(20);
  const ms = performance.now() - startMs;
  for (const client of clients) client.close();
  return { complete: countComplete(clients, reporter.next), ms };
}

const workplace = createWorkplace();
try {
  const server = await workplace.startServer();
  const { token } = await server.client.call(routes.createToken, { body: { name: 'bench', scope: 'read' } });
  const { id } = await server.client.call(routes.createRun, { body: {} });
  const reporter = new Reporter(server, id);
  const many = await play(server, token, reporter, Number(values.clients) - idleCount, 'x'.repeat(100));
  const large = await play(server, token, reporter, 10, 'x'.repeat(20_000));
  const again = await replay(server, token, reporter);
  printTable([
    ['figure', 'target', 'measured', 'unit'],
    ...toRows('many', many),
    ...toRows('large', large),
    [
      'replay: clients that got each event once and in order',
      String(idleCount),
      String(again.complete),
      'clients',
    ],
    ['replay: all events to all of them', '', (again.ms / 1000).toFixed(1), 's'],
  ]);
} finally {
  await workplace.close();
}
