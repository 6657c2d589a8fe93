/**
 * Getting data out: an export of one long run, backups while points come in at full speed, and the removal of it all.
 * Usage: npm run bench -- data-out [--points 10000000]
 */
import { createWriteStream, statSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { parseArgs } from 'node:util';
import { EXPORT_FORMATS, routes, type ExportFormat } from '@svc/contract';
import { startBenchServer, type BenchServer } from './metrics/bench-server.js';
import { measureIngest } from './metrics/ingest.js';
import { runClient } from './metrics/load.js';
import { USUAL_NAMES } from './metrics/points.js';
import { MemoryWatch } from './support/memory.js';
import { printTable, summarise } from './support/report.js';

const { values } = parseArgs({ options: { points: { type: 'string', default: '10000000' } } });
const points = Number(values.points);
const INGEST = { points, clients: 2, batch: 10_000 };
const MB = 1_000_000;

const server = await startBenchServer();
try {
  printTable([
    ['figure', 'value'],
    ...(await exportLongRun()),
    ...(await backUpUnderIngest()),
    ...(await removeAll()),
  ]);
} finally {
  await server.close();
}

async function exportLongRun(): Promise<string[][]> {
  const { id, ingest_token: token } = await server.newRun();
  const share = { url: server.url, token, run_id: id, points, names: USUAL_NAMES, batch: INGEST.batch };
  await runClient('ingest-client.ts', share);
  await server.client.call(routes.finishRun, { params: { run_id: id }, body: { status: 'SUCCEEDED' } });
  const rows: string[][] = [];
  for (const format of EXPORT_FORMATS) rows.push(await exportOnce(server, id, format));
  return rows;
}

async function exportOnce(
  { client, pid, dir }: BenchServer,
  run_id: string,
  format: ExportFormat,
): Promise<string[]> {
  const file = path.join(dir, `run.${format}`);
  const memory = new MemoryWatch(pid);
  const startedMs = performance.now();
  const answer = await client.open(routes.exportMetrics, { params: { run_id }, query: { format } });
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), createWriteStream(file));
  const seconds = (performance.now() - startedMs) / 1000;
  const size = statSync(file).size / MB;
  const speed = Math.round(points / seconds);
  return [
    `export of ${points} points, ${format}`,
    `${seconds.toFixed(1)} s, ${speed} points/s, ${size.toFixed(0)} MB; server ${memory.grownMb.toFixed(0)} MB above ${memory.idleMb.toFixed(0)} MB`,
  ];
}

async function backUpUnderIngest(): Promise<string[][]> {
  const alone = await measureIngest(server, INGEST);
  let isOver = false;
  const backups = backUpUntil(() => isOver);
  const beside = await measureIngest(server, INGEST).finally(() => (isOver = true));
  const made = await backups;
  const ratio = (beside.pointsPerSecond / alone.pointsPerSecond).toFixed(2);
  const p99 = (samples: readonly number[]): string => summarise(samples)[1];
  return [
    ['backups made one after the other meanwhile', made.join('; ')],
    [
      'ingest beside them, of what it is without',
      `${ratio} (${Math.round(beside.pointsPerSecond)} points/s)`,
    ],
    ['GET /jobs p99, without and with', `${p99(alone.listJobsMs)} ms, ${p99(beside.listJobsMs)} ms`],
  ];
}

async function backUpUntil(isOver: () => boolean): Promise<string[]> {
  const made: string[] = [];
  while (!isOver()) {
    const startedMs = performance.now();
    const { size } = await server.client.call(routes.createBackup);
    made.push(`${(size / MB).toFixed(0)} MB in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  }
  return made;
}

async function removeAll(): Promise<string[][]> {
  const { items } = await server.client.call(routes.listRuns, { query: { status: 'RUNNING' } });
  for (const { id } of items)
    await server.client.call(routes.finishRun, { params: { run_id: id }, body: { status: 'SUCCEEDED' } });
  let isOver = false;
  const probing = probeJobs(() => isOver);
  const startedMs = performance.now();
  let freedBytes = 0;
  let removed = 0;
  for (let complete = false; !complete;) {
    const report = await server.client.call(routes.collectGarbage, {
      body: { dry_run: false, older_than_s: 0 },
    });
    freedBytes += report.freed_bytes;
    removed += report.totals.points;
    ({ complete } = report);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  isOver = true;
  const [median, p99] = summarise(await probing);
  return [
    [
      'removal',
      `${removed} points in ${seconds.toFixed(1)} s, ${(freedBytes / MB).toFixed(0)} MB given back`,
    ],
    ['GET /jobs meanwhile', `median ${median} ms, p99 ${p99} ms`],
  ];
}

async function probeJobs(isOver: () => boolean): Promise<number[]> {
  const latenciesMs: number[] = [];
  while (!isOver()) {
    const sentMs = performance.now();
    await server.client.call(routes.listJobs);
    latenciesMs.push(performance.now() - sentMs);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return latenciesMs;
}
