import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { routes } from '@svc/contract';
import { startBenchServer, type BenchServer } from './bench-server.js';
import { runClient } from './load.js';
import { metricNames, USUAL_NAMES } from './points.js';
import { createRequestHead, RawConnection } from './raw-connection.js';

export interface ReadSizes {
  readonly seriesPoints: number;
  /** Runs that are charted together. */
  readonly runs: number;
  readonly wideMetrics: number;
  readonly widePoints: number;
  readonly listedRuns: number;
  readonly repeats: number;
}

/** All in ms. `first`: the first request of a server that was just started, once for each of several starts. */
export interface ReadFigures {
  readonly chartFirst: readonly number[];
  readonly chart: readonly number[];
  readonly query: readonly number[];
  readonly queryFirst: readonly number[];
  readonly summary: readonly number[];
  readonly list: readonly number[];
}

const STARTS = 3;
const CHART_POINTS = 1000;
const NAME = metricNames(1)[0] as string;

export async function measureReads(sizes: ReadSizes): Promise<ReadFigures> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  const first = await startBenchServer(dir);
  const charted: string[] = [];
  for (let index = 0; index < sizes.runs; index += 1) charted.push(await fill(first, sizes.seriesPoints, 1));
  const wide = await fill(first, sizes.widePoints, sizes.wideMetrics);
  const experiment = await createRuns(first, sizes.listedRuns);
  await first.stop();

  const chart = (run = charted[0]): Ask => [
    'GET',
    `/runs/${run}/metrics?names=${encodeURIComponent(NAME)}&limit=${CHART_POINTS}`,
  ];
  const query: Ask = [
    'POST',
    '/runs/metrics:query',
    JSON.stringify({ run_ids: charted, names: [NAME], limit: CHART_POINTS }),
  ];
  const chartFirst: number[] = [];
  const queryFirst: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    chartFirst.push(...(await askFresh(dir, chart(charted[start % charted.length]))));
    queryFirst.push(...(await askFresh(dir, query)));
  }
  const server = await startBenchServer(dir);
  try {
    return {
      chartFirst,
      queryFirst,
      chart: await ask(server, chart(), sizes.repeats),
      query: await ask(server, query, sizes.repeats),
      summary: await ask(server, ['GET', `/runs/${wide}/summary`], sizes.repeats),
      list: await ask(
        server,
        ['GET', `/runs?experiment_id=${experiment}&status=RUNNING&limit=100`],
        sizes.repeats,
      ),
    };
  } finally {
    await server.close();
  }
}

/** A run with so many points in so many metrics; its id. */
async function fill(server: BenchServer, points: number, metrics: number): Promise<string> {
  const { id, ingest_token } = await server.newRun();
  const names = metricNames(metrics);
  await runClient('ingest-client.ts', {
    url: server.url,
    token: ingest_token,
    run_id: id,
    points,
    names,
    batch: 10_000,
  });
  return id;
}

/** So many runs, every tenth in one experiment; the id of that. */
async function createRuns({ client }: BenchServer, count: number): Promise<string> {
  let wanted = '';
  for (let index = 0; index < count; index += 1) {
    const experiment = index % 10 === 0 ? 'wanted' : `other-${index % 7}`;
    const config = { lr: index, model: 'resnet', layers: USUAL_NAMES };
    const { experiment_id } = await client.call(routes.createRun, {
      body: { project: 'bench', experiment, config },
    });
    if (index % 10 === 0) wanted = experiment_id as string;
  }
  return wanted;
}

type Ask = readonly [method: string, path: string, body?: string];

async function askFresh(dir: string, request: Ask): Promise<number[]> {
  const server = await startBenchServer(dir);
  try {
    return await ask(server, request, 1);
  } finally {
    await server.stop();
  }
}

/** How long each answer took, in ms, asked one after the other over one connection. */
async function ask(server: BenchServer, [method, route, body = '']: Ask, times: number): Promise<number[]> {
  const connection = await RawConnection.open(server.url);
  const request = createRequestHead(method, `/api/v1${route}`, server.token)(body.length) + body;
  const latenciesMs: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const sentMs = performance.now();
    const { status } = await connection.send(request);
    latenciesMs.push(performance.now() - sentMs);
    if (status !== 200) throw new Error(`${method} ${route} answered ${status}`);
  }
  connection.close();
  return latenciesMs;
}
