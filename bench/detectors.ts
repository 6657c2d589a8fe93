/**
 * What the detectors cost, and how soon an event of theirs reaches a client. In turns on servers without and with the plugin: 200 runs send 1 000 points a
 * second, and then as many as the server takes; the processor time of the server for them. With the plugin, a loss becomes NaN ten times a second: the time
 * from the batch to its LOSS_NAN at an SSE client. Usage: npm run bench -- detectors [--seconds 20] [--flood 1000000] [--rounds 3]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { routes, type EventRecord, type MetricValue } from '@svc/contract';
import { CALLS, installPackages, toConfigText, writeConfig } from '../test/support/configuration.js';
import { createWorkplace, type Server } from '../test/support/workplace.js';
import { cpuSecondsOf } from './support/process-tree.js';
import { printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    flood: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
  },
});
const [seconds, floodPoints, rounds] = [values.seconds, values.flood, values.rounds].map(Number) as [
  number,
  number,
  number,
];

const RUNS = 200;
const NAMES = ['train/loss', 'val/loss', 'grad_norm', 'lr', 'eval/acc'];
const FLOOD_BATCH = 1_000;
const FLOOD_CLIENTS = 4;
const NANS_PER_S = 10;

interface Round {
  readonly steadyCpuS: number;
  readonly floodCpuS: number;
  readonly latenciesMs: readonly number[];
}

/** A run with its own count of points; its losses fall as those of a training do. */
class Reporter {
  #seq = 0;

  constructor(
    private readonly server: Server,
    readonly id: string,
  ) {}

  send(points: number, loss: MetricValue | null = null): Promise<unknown> {
    const batch = Array.from({ length: points }, () => {
      const seq = this.#seq++;
      const step = Math.floor(seq / NAMES.length);
      const name = NAMES[seq % NAMES.length] as string;
      const value = (2 * (1 + 0.1 * Math.sin(seq))) / (1 + step / 1_000);
      return { seq, step, name, value: loss !== null && name === 'train/loss' ? loss : value };
    });
    const params = { run_id: this.id };
    return this.server.client.call(routes.writePoints, { params, body: { points: batch } });
  }
}

async function createReporters(server: Server): Promise<Reporter[]> {
  const ids = Array.from({ length: RUNS }, (_, index) => `run ${index}`);
  const runs = await Promise.all(ids.map((name) => server.client.call(routes.createRun, { body: { name } })));
  return runs.map(({ id }) => new Reporter(server, id));
}

/** When the LOSS_NAN of each run came, by `performance.now()`. */
function followNans({ url, client }: Server, cameMs: Map<string, number>, signal: AbortSignal) {
  const headers = { Authorization: `Bearer ${client.connection.token}` };
  const reading = fetch(`${url}/api/v1/events/stream?type=LOSS_NAN`, { headers, signal }).then(
    async ({ body }) => {
      let text = '';
      for await (const part of body!.pipeThrough(new TextDecoderStream())) {
        text += part;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const data = /^data: (.+)$/m.exec(text.slice(0, end))?.[1];
          if (data) cameMs.set((JSON.parse(data) as EventRecord).run_id ?? '', performance.now());
          text = text.slice(end + 2);
        }
      }
    },
  );
  reading.catch(() => undefined);
}

/** 5 points of each run a second. With `nans`, the loss of a further run becomes NaN every 100 ms. */
async function reportSteadily(reporters: readonly Reporter[], nans: boolean, sentMs: Map<string, number>) {
  const pending: Promise<unknown>[] = [];
  const perSlot = RUNS / NANS_PER_S;
  const startedMs = performance.now();
  for (let slot = 0; slot < seconds * NANS_PER_S; slot += 1) {
    const first = (slot % NANS_PER_S) * perSlot;
    const due = reporters.slice(first, first + perSlot);
    const chosen = nans ? due[Math.floor(slot / NANS_PER_S) % perSlot] : undefined;
    for (const reporter of due) {
      const isNan = reporter === chosen && !sentMs.has(reporter.id);
      if (isNan) sentMs.set(reporter.id, performance.now());
      pending.push(reporter.send(NAMES.length, isNan ? 'NaN' : null));
    }
    await delay(Math.max(0, startedMs + (slot + 1) * (1_000 / NANS_PER_S) - performance.now()));
  }
  await Promise.all(pending);
}

async function flood(reporters: readonly Reporter[]): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next * FLOOD_BATCH < floodPoints) await reporters[next++ % RUNS]?.send(FLOOD_BATCH);
  };
  await Promise.all(Array.from({ length: FLOOD_CLIENTS }, work));
}

async function measureRound(hasPlugin: boolean): Promise<Round> {
  const workplace = createWorkplace();
  const closing = new AbortController();
  try {
    installPackages(workplace.dir);
    const calls = CALLS.filter((call) => hasPlugin || !call.startsWith('detectors('));
    const server = await workplace.startServer({
      args: ['--config', writeConfig(workplace.dir, toConfigText(calls))],
    });
    const reporters = await createReporters(server);
    const [sentMs, cameMs] = [new Map<string, number>(), new Map<string, number>()];
    const before = cpuSecondsOf(server.pid);
    await reportSteadily(reporters, false, sentMs);
    const steady = cpuSecondsOf(server.pid);
    await flood(reporters);
    await delay(1_000);
    const flooded = cpuSecondsOf(server.pid);
    if (hasPlugin) {
      followNans(server, cameMs, closing.signal);
      await delay(500);
      await reportSteadily(reporters, true, sentMs);
      await delay(2_000);
      if (cameMs.size < sentMs.size) throw new Error(`${sentMs.size - cameMs.size} events did not come`);
    }
    const latenciesMs = [...cameMs].map(([id, at]) => at - (sentMs.get(id) ?? NaN));
    return { steadyCpuS: steady - before, floodCpuS: flooded - steady, latenciesMs };
  } finally {
    closing.abort();
    await workplace.close();
  }
}

const without: Round[] = [];
const withPlugin: Round[] = [];
for (let round = 0; round < rounds; round += 1) {
  without.push(await measureRound(false));
  withPlugin.push(await measureRound(true));
}
const median = (all: readonly Round[], of: (round: Round) => number): number =>
  all.map(of).sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN;
const row = (name: string, of: (round: Round) => number, digits: number, unit: string) => {
  const [before, after] = [median(without, of), median(withPlugin, of)];
  return [
    name,
    before.toFixed(digits),
    after.toFixed(digits),
    `${(((after - before) / before) * 100).toFixed(1)} %`,
    unit,
  ];
};
printTable([
  ['figure', 'without', 'with', 'change', 'unit'],
  row(
    'processor time at 1 000 points a second of 200 runs',
    ({ steadyCpuS }) => steadyCpuS / seconds,
    3,
    's/s',
  ),
  row(
    'processor time of the flood',
    ({ floodCpuS }) => (floodCpuS / floodPoints) * 1e6,
    2,
    's for 1 million points',
  ),
]);
const latenciesMs = withPlugin.flatMap((round) => round.latenciesMs);
console.log(
  `batch with a NaN to its event at an SSE client: median and p99 ${summarise(latenciesMs).join(' and ')} ms (${latenciesMs.length} events)`,
);
