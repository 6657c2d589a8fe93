import type { Command } from 'commander';
import { toConfigFile } from '../installation.js';
import { parseInteger } from './parse.js';

/** The options that `svc server` and `svc up` share. */
export interface ServerOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly dataDir?: string;
}

export function addServerOptions(command: Command): Command {
  return command
    .option(
      '--config <file>',
      'configuration file (default: ./svc.config.ts, else the one that comes with svc)',
    )
    .option('--host <host>', 'address to listen on (SVC_HOST; default: 127.0.0.1)')
    .option(
      '--port <port>',
      'port to listen on; 0 lets the system choose one (SVC_PORT; default: 8600)',
      parseInteger,
    )
    .option('--data-dir <dir>', 'data directory of the server (SVC_DATA_DIR; default: ~/.svc)');
}

export function addServerCommand(program: Command): void {
  addServerOptions(program.command('server'))
    .description('run the server')
    .addHelpText('after', '\nExample:\n  svc server --host 0.0.0.0 --data-dir /var/lib/svc')
    .action(async (options: ServerOptions) => {
      const { serve } = await import('../serve.js');
      await serve(toConfigFile(options.config), toFlags(options));
    });
}

/** As the kernel takes them: what the command line did not say is left out. */
export function toFlags({ host, port, dataDir }: ServerOptions) {
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(dataDir !== undefined && { dataDir }),
  };
}
