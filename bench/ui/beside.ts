import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startPeerServer } from '../metrics/peers/peer-server.js';
import { ensureVenv } from '../metrics/peers/venv.js';
import { CHARTS, STEPS, measureInSight } from './drawing.js';
import { inRounds, toRow, type Stage } from './stage.js';
import { timeToDrawn } from './tab.js';

const run = promisify(execFile);
/** Some write each point with a query of its own. */
const WRITE_PATIENCE_MS = 300_000;

interface PeerConsole {
  readonly args: (dir: string, port: number) => readonly string[];
  /** Answers 200 once the server is there. */
  readonly ready: string;
  /** Of the page that shows the run; null: the writer prints it. */
  readonly address: string | null;
  /** As they are in the page: a chart, and what its line is painted on. */
  readonly chart: string;
  readonly line: string;
}

const CONSOLES: Readonly<Record<string, PeerConsole>> = {
  tensorboard: {
    args: (dir, port) => ['--logdir', dir, '--host', '127.0.0.1', '--port', String(port)],
    ready: '/data/environment',
    address: '/#timeseries',
    chart: 'scalar-card-component',
    line: '.series-view canvas, .series-view path',
  },
  mlflow: {
    args: (dir, port) => {
      const places = ['--backend-store-uri', `sqlite:///${dir}/mlflow.db`, '--default-artifact-root', dir];
      return ['server', ...places, '--host', '127.0.0.1', '--port', String(port), '--workers', '1'];
    },
    ready: '/health',
    address: null,
    chart: '.js-plotly-plot',
    line: '.scatterlayer path, canvas',
  },
  trackio: {
    args: () => ['show', '--project', 'bench'],
    ready: '/',
    address: '/?project=bench',
    chart: '.plot-container',
    line: 'canvas.marks',
  },
  aim: {
    args: (dir, port) => ['up', '--repo', dir, '--host', '127.0.0.1', '--port', String(port)],
    ready: '/',
    address: null,
    chart: '.RunDetailMetricsTab__container__chartContainer__chartBox',
    line: 'path',
  },
};

/** A run with as many scalars in the consoles of others: from navigation until the charts in sight are drawn. */
export async function measureBeside(stage: Stage, names: readonly string[]): Promise<string[][]> {
  const what = `${CHARTS} scalars × ${STEPS} points: charts in sight drawn`;
  const rows = [
    [what, 'budget', 'median', 'worst', 'unit'],
    toRow('svc', '1000', await measureInSight(stage), 'ms'),
  ];
  for (const name of names) rows.push(await toPeerRow(stage, name));
  return rows;
}

async function toPeerRow(stage: Stage, name: string): Promise<string[]> {
  const dir = mkdtempSync(path.join(os.tmpdir(), `svc-bench-${name}-`));
  try {
    return await measurePeer(stage, name, dir);
  } catch (error) {
    const [line = ''] = (error as Error).message.trim().split('\n').slice(-1);
    return [name, '', `not measured: ${line.slice(0, 160)}`, '', ''];
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
}

async function measurePeer(stage: Stage, name: string, dir: string): Promise<string[]> {
  const console = CONSOLES[name];
  if (console === undefined) throw new Error(`there is none; known are ${Object.keys(CONSOLES).join(', ')}`);
  const { bin, version } = await ensureVenv(name);
  const script = fileURLToPath(new URL(`./peers/write_${name}.py`, import.meta.url));
  const env = { PATH: process.env['PATH'], HOME: dir, TRACKIO_DIR: dir };
  const written = await run(`${bin}/python`, [script, dir, String(CHARTS), String(STEPS)], {
    cwd: dir,
    env,
    timeout: WRITE_PATIENCE_MS,
  });
  const address = console.address ?? /^address (\S+)$/m.exec(written.stdout)?.[1] ?? '/';
  // Trackio takes its port and its folder from the environment alone.
  const settings = (port: number) => [`GRADIO_SERVER_PORT=${port}`, `TRACKIO_DIR=${dir}`];
  const args = (port: number) => [...settings(port), `${bin}/${name}`, ...console.args(dir, port)];
  const server = await startPeerServer('env', args, dir, console.ready);
  try {
    const drawn = await inRounds(stage, {}, (tab) =>
      timeToDrawn(tab, server.url + address, { chart: console.chart, line: console.line, least: 1 }),
    );
    return toRow(`${name} ${version}`, '', drawn, 'ms');
  } finally {
    await server.stop();
  }
}
