import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { until } from '@svc/kernel/testing';

export interface PeerServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a peer's server in `dir` on a free port of loopback; resolves when `ready` answers 200. */
export async function startPeerServer(
  program: string,
  args: (port: number) => readonly string[],
  dir: string,
  ready: string,
): Promise<PeerServer> {
  const port = await freePort();
  const log = openSync(path.join(dir, 'server.log'), 'w');
  // A group of its own: they start workers.
  const child = spawn(program, args(port), { cwd: dir, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await until(async () => child.exitCode !== null || (await fetch(url + ready).catch(() => null))?.ok, {
      timeoutMs: 180_000,
      everyMs: 200,
    });
    if (child.exitCode !== null) throw new Error(`${program} did not start`);
    return { url, stop };
  } catch (error) {
    await stop();
    throw new Error(readFileSync(path.join(dir, 'server.log'), 'utf8').slice(-2000), { cause: error });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
