/** For programs on the server's host: finds the server that uses a data directory, and its token there. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The content of `<data dir>/server.json`: the server that uses this data directory. */
export interface LocalServer {
  readonly url: string;
  readonly pid: number;
  /** When the process started, in clock ticks since boot: a later process may have the same pid. */
  readonly start_ticks: number;
}

/** `given`, then SVC_DATA_DIR, then ~/.svc; absolute. A `~` at the beginning is the home directory, as the server takes it. */
export function toDataDir(given?: string, env: NodeJS.ProcessEnv = process.env): string {
  const dataDir = given ?? (env['SVC_DATA_DIR'] || '~/.svc');
  return path.resolve(dataDir.replace(/^~(?=$|\/)/, os.homedir()));
}

/** The running server that uses the data directory, or null. */
export function loadLocalServer(dataDir: string): LocalServer | null {
  try {
    const server = JSON.parse(readFileSync(serverFile(dataDir), 'utf8')) as LocalServer;
    return readStartTicks(server.pid) === server.start_ticks ? server : null;
  } catch {
    return null;
  }
}

/** This process as the server at that address. */
export function toLocalServer(url: string): LocalServer {
  return { url, pid: process.pid, start_ticks: readStartTicks(process.pid) };
}

export function serverFile(dataDir: string): string {
  return path.join(dataDir, 'server.json');
}

/** The token that the server saved on its first start, or null. */
export function loadToken(dataDir: string): string | null {
  try {
    return readFileSync(path.join(dataDir, 'token'), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** Reads `/proc/PID/stat`: pid (comm) state ..., where comm may contain any character. Throws when there is no such process. */
function readStartTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}
