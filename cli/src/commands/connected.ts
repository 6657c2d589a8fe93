import type { Command } from 'commander';
import { createClient, type Client } from '@svc/client';
import { loadConnection, type ConnectionOptions } from '../settings.js';

/** Adds the options that say which server a command talks to. */
export function withServer(command: Command): Command {
  return command
    .optionsGroup('Server options:')
    .option(
      '--url <url>',
      'address of the server (SVC_URL; default: the one of svc login, else the local server)',
    )
    .option('--token <token>', 'token for the server (SVC_TOKEN; default: the one saved for that server)')
    .option('--profile <name>', 'profile of svc login to use (SVC_PROFILE; default: the current one)')
    .option('--data-dir <dir>', 'data directory of the local server (SVC_DATA_DIR; default: ~/.svc)')
    .optionsGroup('Options:');
}

/** As `withServer`, with `--json` as well. */
export function withJson(command: Command): Command {
  return withServer(command.option('--json', 'print the answer as JSON'));
}

export interface JsonOptions extends ConnectionOptions {
  readonly json?: boolean;
}

export function connect(options: ConnectionOptions): Client {
  return createClient(loadConnection(options));
}
