/** For programs on the server's host: which server works on a data directory, and the token that it has left there. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Connection } from './client.js';

/** `<data dir>/server.json`: which server works on this data directory now. */
export interface LocalServer {
  readonly url: string;
  readonly pid: number;
  /** When the process started, in clock ticks since boot: a later process may have the same pid. */
  readonly start_ticks: number;
}

export interface NamedServer {
  readonly url?: string;
  readonly token?: string;
  readonly dataDir?: string;
}

/** `dataDir`, then SVC_DATA_DIR, then ~/.svc; absolute. */
export function toDataDir(given?: string, env: NodeJS.ProcessEnv = process.env): string {
  return path.resolve(given ?? (env['SVC_DATA_DIR'] || path.join(os.homedir(), '.svc')));
}

/**
 * Where the server is and who we are: what is named, then SVC_URL and SVC_TOKEN, then the server of the local data directory; null when
 * there is none. Must hold: the token left in the data directory is sent to the server that works on it alone, and nothing to an address
 * that nobody named.
 */
export function findConnection(named: NamedServer, env: NodeJS.ProcessEnv = process.env): Connection | null {
  const dataDir = toDataDir(named.dataDir, env);
  const local = loadLocalServer(dataDir);
  const url = named.url ?? (env['SVC_URL']?.trim() || local?.url);
  if (url === undefined) return null;
  const isLocal = local !== null && originOf(url) === originOf(local.url);
  const token = named.token ?? (env['SVC_TOKEN']?.trim() || (isLocal ? loadToken(dataDir) : null));
  return { url: url.replace(/\/+$/, ''), token };
}

/** The server that works on the data directory, or null when there is none that lives. */
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

/** The token that the server left on its first start, or null. */
export function loadToken(dataDir: string): string | null {
  try {
    return readFileSync(path.join(dataDir, 'token'), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** Of `/proc/PID/stat`: pid (comm) state ..., where comm may hold anything. Throws when there is no such process. */
function readStartTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}

function originOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).origin : null;
}
