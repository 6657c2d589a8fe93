import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Connection } from './api/client.js';
import { UsageError } from './failure.js';

export const DEFAULT_URL = 'http://127.0.0.1:8600';

export interface ConnectionOptions {
  readonly url?: string;
  readonly token?: string;
  readonly dataDir?: string;
}

/** `--data-dir`, then SVC_DATA_DIR, then ~/.svc; absolute. */
export function toDataDir(given?: string, env: NodeJS.ProcessEnv = process.env): string {
  return path.resolve(given ?? (env['SVC_DATA_DIR'] || path.join(os.homedir(), '.svc')));
}

/**
 * Where the server is and who we are: options, then SVC_URL and SVC_TOKEN, then the server of the local data directory.
 * Must hold: the token left in the data directory is sent to a loopback address alone.
 */
export function loadConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): Connection {
  const dataDir = toDataDir(options.dataDir, env);
  const url = parseUrl(options.url ?? (env['SVC_URL'] || (loadServerAddress(dataDir) ?? DEFAULT_URL)));
  const token = options.token ?? (env['SVC_TOKEN'] || (isLoopback(url) ? loadToken(dataDir) : null));
  return { url, token };
}

/** Whether a command is to go to a server: one was named, or works on the local data directory. */
export function isServerMeant(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): boolean {
  const isNamed = options.url !== undefined || Boolean(env['SVC_URL']);
  return isNamed || loadRunningServer(toDataDir(options.dataDir, env)) !== null;
}

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !['http:', 'https:'].includes(new URL(text).protocol)) {
    throw new UsageError(`"${text}" is not the address of a server; it looks like ${DEFAULT_URL}`);
  }
  return text.replace(/\/+$/, '');
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** The token that the server left on its first start, or null. */
export function loadToken(dataDir: string): string | null {
  return readText(path.join(dataDir, 'token'));
}

/** `<data dir>/server.json`: which server works on this data directory now. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
}

export function serverFile(dataDir: string): string {
  return path.join(dataDir, 'server.json');
}

/** The server that works on the data directory, or null when there is none that lives. */
export function loadRunningServer(dataDir: string): RunningServer | null {
  const text = readText(serverFile(dataDir));
  if (text === null) return null;
  try {
    const server = JSON.parse(text) as RunningServer;
    return isAlive(server.pid) ? server : null;
  } catch {
    return null;
  }
}

function loadServerAddress(dataDir: string): string | null {
  return loadRunningServer(dataDir)?.url ?? null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}
