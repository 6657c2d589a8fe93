import type { Connection } from '@svc/client';
import { findConnection, loadLocalServer, toDataDir, type NamedServer } from '@svc/client/local-server';
import { Failure, UsageError } from './failure.js';

const EXAMPLE_URL = 'http://127.0.0.1:8600';

/** The options that say which server is meant. */
export type ConnectionOptions = NamedServer;

/** See `findConnection`. Throws Failure when no server was named and none runs here. */
export function loadConnection(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): Connection {
  const found = findConnection(options, env);
  if (found === null)
    throw new Failure(
      `no server is running on the data directory ${toDataDir(options.dataDir, env)}: start one with svc up, or name one with --url or SVC_URL`,
    );
  if (!URL.canParse(found.url) || !['http:', 'https:'].includes(new URL(found.url).protocol))
    throw new UsageError(`"${found.url}" is not the address of a server; it looks like ${EXAMPLE_URL}`);
  return found;
}

/** Whether a command is to go to a server: one was named, or works on the local data directory. */
export function isServerMeant(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): boolean {
  const isNamed = options.url !== undefined || Boolean(env['SVC_URL']);
  return isNamed || loadLocalServer(toDataDir(options.dataDir, env)) !== null;
}
