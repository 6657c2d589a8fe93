import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Connection } from '@svc/client';
import { Failure, UsageError } from './failure.js';
import { loadRunningServer } from './running-server.js';

const EXAMPLE_URL = 'http://127.0.0.1:8600';

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
 * Where the server is and who we are: options, then SVC_URL and SVC_TOKEN, then the server of the local data directory. Must hold:
 * the token left in the data directory is sent to the server that works on it alone, and nothing to an address that nobody named.
 */
export function loadConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): Connection {
  const dataDir = toDataDir(options.dataDir, env);
  const local = loadRunningServer(dataDir);
  const named = options.url ?? (env['SVC_URL'] || local?.url);
  if (named === undefined)
    throw new Failure(
      `no server is running on the data directory ${dataDir}: start one with svc up, or name one with --url or SVC_URL`,
    );
  const url = parseUrl(named);
  const isLocal = local !== null && new URL(url).origin === new URL(local.url).origin;
  const token = options.token ?? (env['SVC_TOKEN'] || (isLocal ? loadToken(dataDir) : null));
  return { url, token };
}

/** Whether a command is to go to a server: one was named, or works on the local data directory. */
export function isServerMeant(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): boolean {
  const isNamed = options.url !== undefined || Boolean(env['SVC_URL']);
  return isNamed || loadRunningServer(toDataDir(options.dataDir, env)) !== null;
}

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !['http:', 'https:'].includes(new URL(text).protocol)) {
    throw new UsageError(`"${text}" is not the address of a server; it looks like ${EXAMPLE_URL}`);
  }
  return text.replace(/\/+$/, '');
}

/** The token that the server left on its first start, or null. */
export function loadToken(dataDir: string): string | null {
  return readText(path.join(dataDir, 'token'));
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}
