import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Peer, PeerSizes } from './peer.js';
import { ensureVenv } from './venv.js';

const run = promisify(execFile);

/** Trackers whose documented way is a library that writes to local files from the training itself, without a server. */
export const aim = toPeer('aim');
export const trackio = toPeer('trackio');

function toPeer(name: string): Peer {
  return {
    name,
    async measure(dir, sizes) {
      const { bin, version } = await ensureVenv(name);
      const pointsPerSecond = await measure(`${bin}/python`, name, dir, sizes);
      return { version, pointsPerSecond, chartMs: null, chartPoints: 0 };
    },
  };
}

/** Each client is a process that says how many seconds it wrote; the slowest counts. */
async function measure(
  python: string,
  name: string,
  dir: string,
  { points, clients }: PeerSizes,
): Promise<number> {
  const script = fileURLToPath(new URL(`./${name}_ingest.py`, import.meta.url));
  const share = Math.floor(points / clients);
  const env = { PATH: process.env['PATH'], HOME: dir, TRACKIO_DIR: dir };
  const write = (count: number, client: number) =>
    run(python, [script, dir, String(count), String(client)], { cwd: dir, env });
  // Alone, because they do not expect several to make the files of an empty folder at once.
  await write(0, clients);
  const written = await Promise.all(Array.from({ length: clients }, (_, client) => write(share, client)));
  const seconds = written.map(({ stdout }) => Number(/^seconds (\S+)$/m.exec(stdout)?.[1]));
  return (share * clients) / Math.max(...seconds);
}
