import { until } from '@svc/kernel/testing';
import { FIRST_TS, pointsFrom, metricNames, USUAL_NAMES, type BenchPoint } from '../points.js';
import { startPeerServer } from './peer-server.js';
import type { Peer, PeerFigures, PeerSizes } from './peer.js';
import { ensureVenv, type Venv } from './venv.js';

/** The most that the API takes at once. */
const METRICS_PER_BATCH = 1000;
const PATIENCE = { timeoutMs: 120_000, everyMs: 200 };
const API = '/api/2.0/mlflow';
const CHART = 'train/metric_0';

interface Flavour {
  readonly name: string;
  readonly program: string;
  args(dir: string, port: number): string[];
  /** What its own console asks to draw a series. */
  chart(runId: string): string;
}

const MLFLOW: Flavour = {
  name: 'mlflow',
  program: 'mlflow',
  args: (dir, port) => [
    'server',
    '--backend-store-uri',
    `sqlite:///${dir}/mlflow.db`,
    '--default-artifact-root',
    `${dir}/artifacts`,
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
  ],
  chart: (runId) =>
    `/ajax-api/2.0/mlflow/metrics/get-history-bulk-interval?run_ids=${runId}&metric_key=${encodeURIComponent(CHART)}&max_results=1000`,
};

const FASTTRACKML: Flavour = {
  name: 'fasttrackml',
  program: 'fml',
  args: (dir, port) => [
    'server',
    '--database-uri',
    `sqlite://${dir}/fml.db`,
    '--listen-address',
    `127.0.0.1:${port}`,
  ],
  chart: (runId) => `${API}/metrics/get-history?run_id=${runId}&metric_key=${encodeURIComponent(CHART)}`,
};

export const mlflow = toPeer(MLFLOW);
export const fasttrackml = toPeer(FASTTRACKML);

function toPeer(flavour: Flavour): Peer {
  return {
    name: flavour.name,
    async measure(dir, sizes) {
      const venv = await ensureVenv(flavour.name);
      return measure(flavour, venv, dir, sizes);
    },
  };
}

async function measure(flavour: Flavour, venv: Venv, dir: string, sizes: PeerSizes): Promise<PeerFigures> {
  const program = `${venv.bin}/${flavour.program}`;
  const server = await startPeerServer(program, (port) => flavour.args(dir, port), dir, '/health');
  try {
    const runs = await Promise.all(Array.from({ length: sizes.clients }, () => createRun(server.url)));
    const startedMs = performance.now();
    const share = Math.floor(sizes.points / sizes.clients);
    await Promise.all(runs.map((run) => fill(server.url, run, share, USUAL_NAMES)));
    const pointsPerSecond = (share * sizes.clients * 1000) / (performance.now() - startedMs);
    const charted = await createRun(server.url);
    await fill(server.url, charted, sizes.chartPoints, metricNames(1));
    const chartMs = await askOften(server.url, flavour.chart(charted), sizes.repeats);
    return { version: venv.version, pointsPerSecond, chartMs, chartPoints: sizes.chartPoints };
  } finally {
    await server.stop();
  }
}

async function createRun(url: string): Promise<string> {
  const created = await post(url, 'runs/create', { experiment_id: '0', start_time: FIRST_TS });
  return (created as { run: { info: { run_id: string } } }).run.info.run_id;
}

/** Sends the next batch when the last one is answered, over a connection that is kept: lighter than their own client. */
async function fill(url: string, runId: string, points: number, names: readonly string[]): Promise<void> {
  for (let seq = 0; seq < points; seq += METRICS_PER_BATCH) {
    const metrics = pointsFrom(seq, Math.min(METRICS_PER_BATCH, points - seq), names).map(toMetric);
    await post(url, 'runs/log-batch', { run_id: runId, metrics });
  }
}

async function post(url: string, method: string, body: object): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify(body) };
  // On a busy machine uvicorn ends workers of MLflow that seem to hang, and starts others; its own client tries again too.
  const answer = await until(() => fetch(`${url}${API}/${method}`, request), PATIENCE);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} answered ${answer.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

function toMetric({ name, value, ts, step }: BenchPoint) {
  return { key: name, value, timestamp: ts, step };
}

async function askOften(url: string, path: string, times: number): Promise<number[]> {
  const latenciesMs: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const sentMs = performance.now();
    const answer = await until(() => fetch(url + path), PATIENCE);
    const text = await answer.text();
    latenciesMs.push(performance.now() - sentMs);
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  }
  return latenciesMs;
}
