/**
 * Event files of TensorBoard:
 * 1. The reader: bytes of a file of scalars read in a second of one core, scalars as SummaryWriter writes them and as TensorFlow 2 does. Each
 *    file has records of two tags, written by the real writers and repeated.
 * 2. On the built server and agent, a job flushes a scalar every 250 ms: how old it is when a client of the run's stream reads it.
 * 3. What the agent uses meanwhile, and while a job does nothing in a folder of 2 000 files.
 * Usage: npm run bench -- event-files [--megabytes 100] [--seconds 20]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { routes, type MetricPoint } from '@svc/contract';
import { follow } from '@svc/client';
import { readEventFile } from '@svc/plugin-event-files/reader';
import { setTimeout as delay } from 'node:timers/promises';
import { requireProgram } from '../test/support/engines.js';
import { createWorkplace, submit, untilJob, type Server } from '../test/support/workplace.js';
import { printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: { megabytes: { type: 'string', default: '100' }, seconds: { type: 'string', default: '20' } },
});
const MB = 1e6;
const ROUNDS = 5;
const seconds = Number(values.seconds);
const python = requireProgram('tensorboard');

const WRITE = `
import sys
from tensorboard.summary import Writer
from tensorboardX import SummaryWriter
for writer in (SummaryWriter(sys.argv[1] + '/simple'), Writer(sys.argv[1] + '/tensors')):
    for step in range(5000):
        writer.add_scalar('train/loss', 1 / (step + 1), step)
        writer.add_scalar('train/accuracy', step / 5000, step)
    writer.close()
`;

const STEADY = `
import time
from tensorboardX import SummaryWriter
writer = SummaryWriter('runs')
for step in range(${seconds * 4}):
    time.sleep(0.25)
    writer.add_scalar('flushed_at', time.time() % 100000, step)
    writer.flush()
writer.close()
`;

/** MB of the file for each second of the processor, the best of some rounds: other programs take their part of the caches. */
async function readSpeed(file: string): Promise<number> {
  let best = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    let bytes = 0;
    for await (const { offset } of readEventFile(file)) bytes = offset;
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, bytes / MB / ((user + system) / 1e6));
  }
  return best;
}

async function readerTable(dir: string): Promise<string[][]> {
  execFileSync(python, ['-c', WRITE, dir]);
  const rows: string[][] = [];
  for (const kind of ['simple', 'tensors']) {
    const [name = ''] = readdirSync(path.join(dir, kind));
    const once = readFileSync(path.join(dir, kind, name));
    const file = path.join(dir, `${kind}.tfevents`);
    const copies = Math.ceil((Number(values.megabytes) * MB) / once.length);
    writeFileSync(file, Buffer.concat(Array.from({ length: copies }, () => once)));
    rows.push([`${kind}, MB/s`, (await readSpeed(file)).toFixed(0)]);
  }
  return rows;
}

/** Ages in ms. The value is the time of the flush: only its last five digits of seconds fit exactly enough (8 ms) into 32 bits. */
async function flushLatency(server: Server): Promise<number[]> {
  const { id } = await submit(server.client, {
    command: [python, '-c', STEADY],
    resources: { cpu_only: true },
  });
  const { run_id } = await untilJob(server.client, id, (job) => job.run_id !== null);
  const ages: number[] = [];
  const input = { params: { run_id: run_id! } };
  for await (const messages of follow(server.client, routes.streamPoints, input)) {
    const points = messages.flatMap(({ data }) => (JSON.parse(data) as { points: MetricPoint[] }).points);
    for (const { value } of points) ages.push((Date.now() / 1000 - Number(value) + 1e5) % 1e5);
    if (ages.length >= seconds * 4) break;
  }
  return ages.map((age) => age * 1000);
}

const dir = mkdtempSync(path.join(os.tmpdir(), 'bench-event-files-'));
const workplace = createWorkplace();
try {
  const rows = await readerTable(dir);
  const server = await workplace.startServer();
  const agent = await workplace.startAgent(server);
  const ages = await flushLatency(server);
  const [median, p99] = summarise(ages);
  rows.push([
    'flushed to the stream, ms: median, p99, max',
    `${median}, ${p99}, ${Math.max(...ages).toFixed(0)}`,
  ]);

  const folder = path.join(dir, 'idle');
  for (let index = 0; index < 2000; index++) {
    mkdirSync(path.join(folder, `f${index % 100}`), { recursive: true });
    writeFileSync(path.join(folder, `f${index % 100}`, `${index}.txt`), '');
  }
  const idle = async (working_dir?: string): Promise<number> => {
    const { id } = await submit(server.client, {
      command: ['sleep', '1000'],
      resources: { cpu_only: true },
      ...(working_dir && { working_dir }),
    });
    await untilJob(server.client, id, ({ status }) => status === 'RUNNING');
    await delay(5000);
    const before = cpuSeconds(agent.pid);
    await delay(60_000);
    const used = cpuSeconds(agent.pid) - before;
    await server.client.call(routes.cancelJob, { params: { job_id: id } });
    await untilJob(server.client, id, ({ finished_at }) => finished_at !== null);
    return (used / 60) * 100;
  };
  rows.push(['agent with an idle job, % of a core, all its parts', (await idle(folder)).toFixed(2)]);
  printTable([['figure', 'measured'], ...rows]);
} finally {
  await workplace.close();
  rmSync(dir, { recursive: true, force: true });
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
