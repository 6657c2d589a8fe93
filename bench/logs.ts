/**
 * The way of a log line, on the built server and agent:
 * 1. A job prints as fast as it can: lines a second from its start until the server has the last one on its disk, and what
 *    server and agent grow by meanwhile. Then the download is read, and every line must be there, in order.
 * 2. A job prints 1 000 lines a second with the time in each: how old a line is when an SSE client reads it.
 * Usage: npm run bench -- logs [--lines 2000000] [--rate 1000] [--seconds 20]
 */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { routes } from '@svc/contract';
import type { Client } from '@svc/client';
import { followLogs } from '../cli/src/commands/logs.js';
import { createWorkplace, submit, untilJob } from '../test/support/workplace.js';
import { MemoryWatch } from './support/memory.js';
import { printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '2000000' },
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
  },
});
const lineCount = Number(values.lines);
const linesPerSecond = Number(values.rate);
const seconds = Number(values.seconds);

const toLine = (index: number): string =>
  `step ${String(index).padStart(8, '0')} loss 0.123456 lr 3.0e-04 tokens/s 123456`;

/** Prints the lines of `toLine`; `printf` of awk keeps up with any disk. */
const LOUD = `BEGIN { for (i = 0; i < ${lineCount}; i++) printf "step %08d loss 0.123456 lr 3.0e-04 tokens/s 123456\\n", i }`;

/** Each line holds the time at which it was printed, in ms since the epoch. */
const STEADY = `
  const startMs = performance.now();
  let printed = 0;
  const timer = setInterval(() => {
    const due = Math.min(${linesPerSecond * seconds}, (performance.now() - startMs) * ${linesPerSecond / 1000});
    for (; printed < due; printed += 1)
      process.stdout.write((performance.timeOrigin + performance.now()).toFixed(3) + '\\n');
    if (printed >= ${linesPerSecond * seconds}) clearInterval(timer);
  }, 1);
`;

interface Flood {
  readonly linesPerS: number;
  readonly jobS: number;
  readonly downloadS: number;
}

async function flood(client: Client): Promise<Flood> {
  const { id } = await submit(client, { command: ['awk', LOUD], resources: { cpu_only: true } });
  const job = await untilJob(client, id, ({ started_at }) => started_at !== null);
  const startedMs = job.started_at as number;
  while ((await countStored(client, id)) < lineCount) await delay(20);
  const storedS = (Date.now() - startedMs) / 1000;
  const { finished_at } = await untilJob(client, id, ({ status }) => status === 'SUCCEEDED');
  const downloadMs = performance.now();
  await checkDownload(client, id);
  return {
    linesPerS: lineCount / storedS,
    jobS: ((finished_at as number) - startedMs) / 1000,
    downloadS: (performance.now() - downloadMs) / 1000,
  };
}

async function countStored(client: Client, id: string): Promise<number> {
  const { lines } = await client.call(routes.tailLogs, { params: { job_id: id }, query: { tail: 1 } });
  return (lines[0]?.seq ?? -1) + 1;
}

/** Throws unless the download is the lines that were printed, in their order. */
async function checkDownload(client: Client, id: string): Promise<void> {
  const { body } = await client.open(routes.downloadLogs, { params: { job_id: id } });
  const source = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
  let index = 0;
  for await (const line of createInterface({ input: source })) {
    if (line !== toLine(index)) throw new Error(`line ${index} of the download is "${line}"`);
    index += 1;
  }
  if (index !== lineCount) throw new Error(`the download has ${index} of ${lineCount} lines`);
}

/** How old each line is when it is read from the live stream, in ms. Throws unless all come, in order. */
async function follow(client: Client): Promise<number[]> {
  const { id } = await submit(client, {
    command: [process.execPath, '-e', STEADY],
    resources: { cpu_only: true },
  });
  const agesMs: number[] = [];
  const write = ({ seq, text }: { seq: number; text: string }) => {
    if (seq !== agesMs.length) throw new Error(`line ${seq} came in place of line ${agesMs.length}`);
    agesMs.push(performance.timeOrigin + performance.now() - Number(text));
  };
  await followLogs(client, id, { query: { attempt: 1, tail: 2000 }, write });
  if (agesMs.length !== linesPerSecond * seconds)
    throw new Error(`${agesMs.length} of ${linesPerSecond * seconds} lines came`);
  return agesMs;
}

const workplace = createWorkplace();
try {
  const server = await workplace.startServer();
  const agent = await workplace.startAgent(server);
  const memory = { server: new MemoryWatch(server.pid), agent: new MemoryWatch(agent.pid) };
  const { linesPerS, jobS, downloadS } = await flood(server.client);
  const grown = { server: memory.server.grownMb, agent: memory.agent.grownMb };
  const agesMs = await follow(server.client);
  printTable([
    ['figure', 'target', 'measured', 'unit'],
    ['lines end to end', '>= 100000', linesPerS.toFixed(0), 'lines/s'],
    ['the job alone', '', jobS.toFixed(1), 's'],
    ['download, read and checked', '', downloadS.toFixed(1), 's'],
    ['server, peak above idle', '<= 100', grown.server.toFixed(0), 'MB'],
    ['agent, peak above idle', '<= 100', grown.agent.toFixed(0), 'MB'],
    ['line to SSE client, median', '', summarise(agesMs)[0], 'ms'],
    ['line to SSE client, p99', '<= 200', summarise(agesMs)[1], 'ms'],
  ]);
} finally {
  await workplace.close();
}
