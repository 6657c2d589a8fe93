import { routes } from '@svc/contract';
import type { Command } from 'commander';
import { print } from '../output/print.js';
import { connect, withJson, type JsonOptions } from './connected.js';

export function addWhoamiCommand(program: Command): void {
  withJson(program.command('whoami'))
    .description('show the name of the token in use and what it may do')
    .addHelpText('after', '\nExample:\n  svc whoami --url http://127.0.0.1:8600')
    .action(showCaller);
}

async function showCaller(options: JsonOptions): Promise<void> {
  const client = connect(options);
  const caller = await client.call(routes.whoami);
  print(caller, options.json, ({ name, scope, can_write }) => [
    `${name}: scope ${scope}, ${can_write ? 'can write' : 'cannot write'}, at ${client.connection.url}`,
  ]);
}
