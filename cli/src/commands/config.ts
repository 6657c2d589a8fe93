import type { Command } from 'commander';
import { toConfigFile } from '../installation.js';
import { printLines } from '../output/print.js';
import { addServerOptions, toFlags, type ServerOptions } from './server.js';

export function addConfigCommand(program: Command): void {
  const config = program
    .command('config')
    .description('show the configuration of the server')
    .addHelpText('after', '\nExample:\n  svc config print');
  addServerOptions(config.command('print'))
    .description('print the configuration in force (from file, environment and options), without secrets')
    .addHelpText('after', '\nExample:\n  svc config print --config svc.config.ts')
    .action(printConfig);
}

async function printConfig(options: ServerOptions): Promise<void> {
  const { describeConfig, loadConfig } = await import('@svc/kernel');
  const config = await loadConfig(toConfigFile(options.config), { flags: toFlags(options) });
  printLines([JSON.stringify(await describeConfig(config), null, 2)]);
}
