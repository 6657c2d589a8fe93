import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '@svc/kernel/testing';
import { startPeerServer } from './peer-server.js';
import type { Peer } from './peer.js';
import { ensureVenv } from './venv.js';

const run = promisify(execFile);
const SCALARS = '/data/plugin/scalars';

/** Reads event files and keeps a random sample of 1000 points of each series (its default): no ingest over HTTP, and no spike is safe. */
export const tensorboard: Peer = {
  name: 'tensorboard',
  async measure(dir, { chartPoints, repeats }) {
    const { bin, version } = await ensureVenv('tensorboard');
    const script = fileURLToPath(new URL('./tensorboard_events.py', import.meta.url));
    await run(`${bin}/python`, [script, dir, String(chartPoints)], { cwd: dir });
    const args = (port: number): string[] => ['--logdir', dir, '--host', '127.0.0.1', '--port', String(port)];
    const server = await startPeerServer(`${bin}/tensorboard`, args, dir, '/data/environment');
    try {
      const url = `${server.url}${SCALARS}/scalars?tag=loss&run=.`;
      await until(async () => (await read(url)) !== null, { timeoutMs: 300_000, everyMs: 500 });
      const chartMs: number[] = [];
      for (let index = 0; index < repeats; index += 1) {
        const sentMs = performance.now();
        await read(url);
        chartMs.push(performance.now() - sentMs);
      }
      return { version, pointsPerSecond: null, chartMs, chartPoints };
    } finally {
      await server.stop();
    }
  },
};

/** null while it still loads. */
async function read(url: string): Promise<string | null> {
  const answer = await fetch(url);
  const text = await answer.text();
  return answer.ok && text.length > 1000 ? text : null;
}
