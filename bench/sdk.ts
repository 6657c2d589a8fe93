/**
 * The Python SDK beside other trackers: how long a call holds a training that logs 10 scalars, what it costs a loop of 1 ms steps, what the
 * thread that sends costs, and its memory while the server is away. Usage: npm run bench -- sdk [--calls 2000] [--rounds 3] [--beside wandb,mlflow,trackio,tensorboardX] [--logs 3600000]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ROOT } from '../test/support/program.js';
import { startBenchServer, type BenchServer } from './metrics/bench-server.js';
import { ensureVenv } from './metrics/peers/venv.js';
import { printTable, summarise } from './support/report.js';

const PAUSE_S = 0.001;
const LOOP_STEPS = 2_000;

const number = (value: string) => ({ type: 'string', default: value }) as const;
const { values } = parseArgs({
  options: {
    calls: number('2000'),
    rounds: number('3'),
    logs: number('3600000'),
    beside: number('wandb,mlflow,trackio,tensorboardX'),
    python: number('python3'),
  },
});
const script = (name: string) => fileURLToPath(new URL(`./sdk/${name}.py`, import.meta.url));
const load = () => `load ${os.loadavg()[0]!.toFixed(1)} on ${os.availableParallelism()} cores`;

console.log(load());
const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-sdk-'));
const server = await startBenchServer();
try {
  await calls();
  await loops();
  await memory();
} finally {
  await server.close();
  rmSync(dir, { recursive: true, force: true });
}
console.log(load());

/** The trackers take turns, each several times, so that a busy moment of the machine meets all of them. */
async function calls(): Promise<void> {
  const peers = values.beside.split(',').filter((name) => name !== '');
  const trackers = [{ name: 'svc', python: values.python, version: '' }];
  for (const name of peers) {
    const { bin, version } = await ensureVenv(name);
    trackers.push({ name, python: `${bin}/python`, version });
  }
  const taken = new Map(trackers.map(({ name }) => [name, [] as number[]]));
  const tight: number[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const { name, python } of trackers)
      taken.get(name)!.push(...(await measure(python, [script('log'), name, values.calls, String(PAUSE_S)])));
    tight.push(...(await measure(values.python, [script('log'), 'svc', values.calls, '0'])));
  }
  const own = Number(summarise(taken.get('svc')!)[0]);
  const rows = trackers.map(({ name, version }) => {
    const [median, p99] = summarise(taken.get(name)!);
    return [`${name} ${version}`.trim(), median, p99, `${(Number(median) / own).toFixed(1)} times`];
  });
  printTable([
    ['a call that logs 10 scalars, 1 ms between calls', 'median, µs', 'p99, µs', 'beside svc'],
    ...rows,
    ['svc, without a pause', ...summarise(tight), ''],
  ]);
}

async function loops(): Promise<void> {
  const rows = [['steps of 1 ms, each with a log of 10 scalars', 'slower by, median of rounds']];
  for (const kind of ['held', 'released']) {
    const slower = await measure(values.python, [script('loop'), kind, '7', String(LOOP_STEPS)]);
    rows.push([kind, `${summarise(slower)[0]} %`]);
  }
  printTable(rows);
  const taken = await measure(values.python, [script('sender'), '5000']);
  printTable([
    ['of the thread that sends', 'µs'],
    ['processor time for 1000 points', summarise(taken)[0]],
  ]);
}

async function memory(): Promise<void> {
  const away = await startBenchServer();
  const [before, most] = await measure(values.python, [script('memory'), values.logs], away, async () => {
    await away.stop();
  });
  rmSync(away.dir, { recursive: true, force: true });
  printTable([
    ['resident, MB', 'before', 'at most'],
    [
      `${values.logs} logs of 10 scalars to a server that is away`,
      (before ?? NaN).toFixed(0),
      (most ?? NaN).toFixed(0),
    ],
  ]);
}

/** Runs a script that says what it has measured. One that says READY goes on once `whenReady` is done. */
function measure(
  python: string,
  args: readonly string[],
  { url, token }: BenchServer = server,
  whenReady: () => Promise<void> = () => Promise.resolve(),
): Promise<number[]> {
  const own = { PYTHONPATH: path.join(ROOT, 'sdk', 'python'), SVC_URL: url, SVC_TOKEN: token };
  const env = { PATH: process.env['PATH'], HOME: dir, TRACKIO_DIR: dir, SVC_FLUSH_TIMEOUT_S: '2', ...own };
  const child = spawn(python, args, { cwd: dir, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let [stdout, errors] = ['', ''];
  let isReady = false;
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString();
    if (isReady || !stdout.includes('READY')) return;
    isReady = true;
    void whenReady().then(() => child.stdin.end('\n'));
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const taken = /^TAKEN (.*)$/m.exec(stdout)?.[1];
      if (taken === undefined)
        reject(new Error(`${args.join(' ')} ended with ${code}: ${errors.slice(-2000)}`));
      else resolve(JSON.parse(taken) as number[]);
    });
  });
}
