import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { createClient, type Client } from '@svc/client';
import { ROOT } from '../../test/support/program.js';

export interface BenchServer {
  readonly url: string;
  /** Of write scope. */
  readonly token: string;
  readonly client: Client;
  readonly pid: number;
  /** Where it keeps everything: start another server there after `stop`. */
  readonly dir: string;
  readonly dataDir: string;
  /** How late each tick of the scheduler was so far, in ms. */
  tickLateMs(): number[];
  /** A new run with an ingest token of its own. */
  newRun(): Promise<{ id: string; ingest_token: string }>;
  stop(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

function fail(message: string): never {
  throw new Error(message);
}

const TICK_PROBE = new URL('./tick-probe.mjs', import.meta.url).href;

/** The built server with its default settings, on a data directory of its own; its log goes to a file, as under an init system. */
export async function startBenchServer(
  dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-')),
  nodeOptions: readonly string[] = [],
): Promise<BenchServer> {
  const dataDir = path.join(dir, 'data');
  const [output, log] = ['output.log', 'server.log'].map((name) => openSync(path.join(dir, name), 'w')) as [
    number,
    number,
  ];
  const ticks = path.join(dir, 'ticks');
  const env = { PATH: process.env['PATH'], HOME: dir, SVC_DATA_DIR: dataDir, SVC_BENCH_TICKS: ticks };
  const args = [...nodeOptions, '--import', TICK_PROBE, `${ROOT}cli/bin/svc.mjs`, 'server', '--port', '0'];
  const program = spawn(process.execPath, args, { cwd: dir, env, stdio: ['ignore', output, log] });
  for (const file of [output, log]) closeSync(file);
  const exited = new Promise((resolve) => program.once('exit', resolve));
  const written = (name: string) => readFileSync(path.join(dir, name), 'utf8');
  const listening = () => /svc server listens on (http:\S+)/.exec(written('output.log'))?.[1];
  await until(() => listening() !== undefined || program.exitCode !== null, { timeoutMs: 60_000 });
  const url = listening() ?? fail(`the server did not start:\n${written('server.log')}`);
  const token = readFileSync(path.join(dataDir, 'token'), 'utf8').trim();
  const client = createClient({ url, token });
  const stop = async () => {
    program.kill('SIGTERM');
    await exited;
  };
  return {
    url,
    token,
    client,
    pid: program.pid as number,
    dir,
    dataDir,
    tickLateMs: () => (existsSync(ticks) ? readFileSync(ticks, 'utf8').trim().split('\n').map(Number) : []),
    newRun: async () =>
      (await client.call(routes.createRun, { body: {} })) as { id: string; ingest_token: string },
    stop,
    async close() {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
