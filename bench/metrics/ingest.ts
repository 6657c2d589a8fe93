import { statSync } from 'node:fs';
import path from 'node:path';
import type { BenchServer } from './bench-server.js';
import type { IngestShare, IngestSpan } from './ingest-client.js';
import { runClient } from './load.js';
import { USUAL_NAMES } from './points.js';
import { createRequestHead, RawConnection } from './raw-connection.js';

export interface IngestSizes {
  readonly points: number;
  readonly clients: number;
  readonly batch: number;
}

export interface IngestFigures {
  readonly pointsPerSecond: number;
  readonly bytesPerPoint: number;
  readonly listJobsMs: readonly number[];
  readonly tickLateMs: readonly number[];
}

const PROBE_EVERY_MS = 20;

/** Ingest at full speed, and beside it what else the server must not neglect: `GET /jobs` and the scheduler's tick. */
export async function measureIngest(server: BenchServer, sizes: IngestSizes): Promise<IngestFigures> {
  const before = databaseBytes(server.dataDir);
  const ended = new AbortController();
  const probing = probeListJobs(server, ended.signal);
  const spans = await Promise.all(
    (await sharesOf(server, sizes)).map((share) => runClient<IngestSpan>('ingest-client.ts', share)),
  );
  ended.abort();
  const listJobsMs = await probing;
  const seconds =
    (Math.max(...spans.map(({ endedMs }) => endedMs)) -
      Math.min(...spans.map(({ startedMs }) => startedMs))) /
    1000;
  return {
    pointsPerSecond: sizes.points / seconds,
    bytesPerPoint: (databaseBytes(server.dataDir) - before) / sizes.points,
    listJobsMs,
    tickLateMs: server.tickLateMs(),
  };
}

async function sharesOf(
  server: BenchServer,
  { points, clients, batch }: IngestSizes,
): Promise<IngestShare[]> {
  const share = Math.floor(points / clients);
  const shares: IngestShare[] = [];
  for (let index = 0; index < clients; index += 1) {
    const { id, ingest_token } = await server.newRun();
    shares.push({
      url: server.url,
      token: ingest_token,
      run_id: id,
      points: share,
      names: USUAL_NAMES,
      batch,
    });
  }
  return shares;
}

async function probeListJobs(server: BenchServer, signal: AbortSignal): Promise<number[]> {
  const connection = await RawConnection.open(server.url);
  const request = createRequestHead('GET', '/api/v1/jobs', server.token)(0);
  const latenciesMs: number[] = [];
  while (!signal.aborted) {
    const sentMs = performance.now();
    const { status } = await connection.send(request);
    if (status !== 200) throw new Error(`GET /jobs answered ${status}`);
    latenciesMs.push(performance.now() - sentMs);
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  connection.close();
  return latenciesMs;
}

function databaseBytes(dataDir: string): number {
  return statSync(path.join(dataDir, 'svc.db')).size;
}
