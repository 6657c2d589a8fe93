import type { Command } from 'commander';
import { note, printLines } from '../output/print.js';
import type { ConnectionOptions } from '../settings.js';
import { createSignInLink } from '../sign-in-link.js';
import { connect, withServer } from './connected.js';

export function addConsoleCommand(program: Command): void {
  withServer(program.command('console'))
    .description('print a new link that signs a browser in to the console')
    .addHelpText('after', '\nExamples:\n  svc console\n  svc console --url http://gpu-server:8600')
    .action(printSignInLink);
}

async function printSignInLink(options: ConnectionOptions): Promise<void> {
  const link = await createSignInLink(connect(options));
  note('this sign-in link works once, within ten minutes:');
  printLines([link]);
}
