import type { Connection } from '@svc/client';
import { findConnection, type NamedServer } from '@svc/client/find-connection';
import { toDataDir } from '@svc/client/local-server';
import { ProfileError, toAddress } from '@svc/client/profiles';
import { Failure, UsageError } from './failure.js';
import { note } from './output/print.js';

const EXAMPLE_URL = 'http://127.0.0.1:8600';

/** The options that say which server is meant. */
export type ConnectionOptions = NamedServer;

/** See `findConnection`. Throws Failure when no server was named and none runs here. */
export function loadConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): Connection {
  const found = find(options, env, note);
  if (found === null)
    throw new Failure(
      `no server is running on the data directory ${toDataDir(options.dataDir, env)}: start one with svc up, or name one with svc login URL, --url or SVC_URL`,
    );
  requireAddress(found.url);
  return found;
}

/** Whether a command is to go to a server: one was named, or works on the local data directory. */
export function isServerMeant(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): boolean {
  return find(options, env) !== null;
}

/** The address as one spelling. */
export function requireAddress(url: string): string {
  const address = toAddress(url);
  if (address === null)
    throw new UsageError(`"${url}" is not the address of a server; it looks like ${EXAMPLE_URL}`);
  return address;
}

function find(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
  warn?: (message: string) => void,
): Connection | null {
  if (options.url !== undefined && options.profile !== undefined)
    throw new UsageError('--url and --profile both name a server: give one of them');
  try {
    return findConnection(options, env, warn);
  } catch (error) {
    throw error instanceof ProfileError ? new Failure(error.message, { cause: error }) : error;
  }
}
