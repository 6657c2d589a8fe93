/**
 * Metrics: ingest, reads, and what both leave to the rest of the server; beside raw inserts into the same SQLite and beside other trackers, in one run.
 * Usage: npm run bench -- metrics [--points 10000000] [--only ingest,single,reads] [--beside mlflow,fasttrackml,aim,trackio,tensorboard]
 *   [--series-points 1000000] [--wide-points 5000000] [--listed-runs 10000] [--peer-points 100000]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startBenchServer } from './metrics/bench-server.js';
import { measureIngest } from './metrics/ingest.js';
import { runClient } from './metrics/load.js';
import { PEERS } from './metrics/peers/index.js';
import type { Peer } from './metrics/peers/peer.js';
import { measureRawInserts } from './metrics/raw-inserts.js';
import { measureReads } from './metrics/reads.js';
import { printTable, summarise } from './support/report.js';

const CLIENTS = 4;
const BATCH = 10_000;
const SINGLE = { runs: 16, connectionsPerRun: 4, forMs: 15_000 };
const REPEATS = 30;
const WIDE_METRICS = 500;
const CHARTED_RUNS = 20;

const number = (value: string) => ({ type: 'string', default: value }) as const;
const { values } = parseArgs({
  options: {
    points: number('10000000'),
    'series-points': number('1000000'),
    'wide-points': number('5000000'),
    'listed-runs': number('10000'),
    'peer-points': number('100000'),
    only: { type: 'string', default: 'ingest,single,reads' },
    beside: { type: 'string', default: '' },
  },
});
const parts = values.only.split(',');
const points = Number(values.points);

type Row = readonly [figure: string, median: string, p99OrRatio: string, unit: string];
const rows: Row[] = [['figure', 'median', 'p99, or share', 'unit']];
const whole = (value: number): string => Math.round(value).toLocaleString('en').replaceAll(',', ' ');

console.log(
  `load ${os
    .loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')} on ${os.availableParallelism()} cores`,
);
const ownRate = parts.includes('ingest') ? await ingest() : null;
if (parts.includes('single')) await singlePoints();
if (parts.includes('reads')) await reads();
printTable(rows);
await beside(
  PEERS.filter(({ name }) => values.beside.split(',').includes(name)),
  ownRate,
);
console.log(
  `load ${os
    .loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
);

async function ingest(): Promise<number> {
  const server = await startBenchServer();
  try {
    const { pointsPerSecond, bytesPerPoint, listJobsMs, tickLateMs } = await measureIngest(server, {
      points,
      clients: CLIENTS,
      batch: BATCH,
    });
    const rawPoints = Math.min(points, 2_000_000);
    const [plain, idempotent] = (['plain', 'idempotent'] as const).map((table) =>
      measureRawInserts(table, rawPoints, BATCH),
    ) as [Raw, Raw];
    const share = (raw: Raw): string => `${Math.round((100 * pointsPerSecond) / raw.pointsPerSecond)} %`;
    rows.push(
      [`ingest, ${CLIENTS} clients, batches of ${BATCH}`, whole(pointsPerSecond), '', 'points/s'],
      ['raw inserts of the same rows, no key', whole(plain.pointsPerSecond), share(plain), 'points/s'],
      ['raw inserts, key (run_id, seq)', whole(idempotent.pointsPerSecond), share(idempotent), 'points/s'],
      [
        'on disk',
        bytesPerPoint.toFixed(1),
        `raw ${plain.bytesPerPoint.toFixed(0)} and ${idempotent.bytesPerPoint.toFixed(0)}`,
        'bytes/point',
      ],
      ['GET /jobs meanwhile', ...summarise(listJobsMs), 'ms'],
      [
        '2 s tick late meanwhile, at most',
        Math.max(...tickLateMs).toFixed(0),
        `of ${tickLateMs.length}`,
        'ms',
      ],
    );
    return pointsPerSecond;
  } finally {
    await server.close();
  }
}

type Raw = ReturnType<typeof measureRawInserts>;

async function singlePoints(): Promise<void> {
  const server = await startBenchServer();
  try {
    const run_ids: string[] = [];
    for (let index = 0; index < SINGLE.runs; index += 1) run_ids.push((await server.newRun()).id);
    const { url, token } = server;
    const latenciesMs = await runClient<number[]>('single-point-client.ts', {
      url,
      token,
      run_ids,
      ...SINGLE,
    });
    rows.push(
      [
        `1 point batches, ${SINGLE.runs * SINGLE.connectionsPerRun} connections`,
        whole((1000 * latenciesMs.length) / SINGLE.forMs),
        '',
        'requests/s',
      ],
      ['of them, from sent to answered', ...summarise(latenciesMs), 'ms'],
    );
  } finally {
    await server.close();
  }
}

async function reads(): Promise<void> {
  const figures = await measureReads({
    seriesPoints: Number(values['series-points']),
    runs: CHARTED_RUNS,
    wideMetrics: WIDE_METRICS,
    widePoints: Number(values['wide-points']),
    listedRuns: Number(values['listed-runs']),
    repeats: REPEATS,
  });
  const chart = `chart, 1000 of ${whole(Number(values['series-points']))} points`;
  rows.push(
    [chart, ...summarise(figures.chart), 'ms'],
    [`${chart}, first request of a new server`, ...summarise(figures.chartFirst), 'ms'],
    [`the same of ${CHARTED_RUNS} runs in one query`, ...summarise(figures.query), 'ms'],
    [`the same, first request of a new server`, ...summarise(figures.queryFirst), 'ms'],
    [
      `summary, ${WIDE_METRICS} metrics, ${whole(Number(values['wide-points']))} points`,
      ...summarise(figures.summary),
      'ms',
    ],
    [`100 of ${whole(Number(values['listed-runs']))} runs, filtered`, ...summarise(figures.list), 'ms'],
  );
}

async function beside(peers: readonly Peer[], ownPointsPerSecond: number | null): Promise<void> {
  if (peers.length === 0) return;
  const table: string[][] = [['peer', 'points/s', 'svc is faster by', 'its chart, median ms', 'of points']];
  for (const peer of peers) table.push(await rowOf(peer, ownPointsPerSecond));
  console.log();
  printTable(table);
}

async function rowOf(peer: Peer, ownPointsPerSecond: number | null): Promise<string[]> {
  const dir = mkdtempSync(path.join(os.tmpdir(), `svc-bench-${peer.name}-`));
  const peerPoints = Number(values['peer-points']);
  try {
    const figures = await peer.measure(dir, {
      points: peerPoints,
      clients: CLIENTS,
      chartPoints: peerPoints,
      repeats: REPEATS,
    });
    const { version, pointsPerSecond, chartMs, chartPoints } = figures;
    const ratio =
      ownPointsPerSecond !== null && pointsPerSecond !== null
        ? `${(ownPointsPerSecond / pointsPerSecond).toFixed(0)}×`
        : '';
    const rate = pointsPerSecond === null ? '' : whole(pointsPerSecond);
    return [
      `${peer.name} ${version}`,
      rate,
      ratio,
      chartMs ? summarise(chartMs)[0] : '',
      chartMs ? whole(chartPoints) : '',
    ];
  } catch (error) {
    const [line = ''] = (error as Error).message.trim().split('\n').slice(-1);
    return [peer.name, `not measured: ${line.slice(0, 160)}`, '', '', ''];
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
}
