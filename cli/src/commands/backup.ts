import { routes } from '@svc/contract';
import type { Command } from 'commander';
import type { DataDirOptions } from '../data-dir.js';
import { toSize } from '../output/format.js';
import { note, print } from '../output/print.js';
import { isServerMeant } from '../settings.js';
import { connect, withJson, type JsonOptions } from './connected.js';

const CONFIG_OPTION = [
  '--config <file>',
  'configuration (default: svc.config.ts here, else the one that comes with svc)',
] as const;

export function addBackupCommands(program: Command): void {
  withJson(program.command('backup').option(...CONFIG_OPTION))
    .description('back up database and logs: over the server, or its data directory while it does not run')
    .addHelpText('after', '\nExample:\n  svc backup --json')
    .action(backUp);

  program
    .command('restore')
    .description('put a backup in place of the database; the server must not run')
    .argument('<file>', 'the folder of a backup, or a database file')
    .option(...CONFIG_OPTION)
    .option('--data-dir <dir>', 'data directory of the server (SVC_DATA_DIR; default ~/.svc)')
    .option('--revoke-tokens', 'revoke every token of the backup and make a new first token')
    .option('--json', 'print what was done as JSON')
    .addHelpText('after', '\nExample:\n  svc restore ~/.svc/backups/2026-01-31T02-00-00.000Z-schema-14')
    .action(restore);
}

async function backUp(options: JsonOptions & DataDirOptions): Promise<void> {
  const made = isServerMeant(options)
    ? await connect(options).call(routes.createBackup)
    : await (await import('../backup-of-data-dir.js')).backUpDataDir(options);
  print(made, options.json, ({ path, size }) => [`${path} (${toSize(size)})`]);
}

interface RestoreOptions extends DataDirOptions {
  readonly revokeTokens?: boolean;
  readonly json?: boolean;
}

async function restore(file: string, options: RestoreOptions): Promise<void> {
  const { restoreToDataDir } = await import('../backup-of-data-dir.js');
  const restored = await restoreToDataDir(file, options);
  print(restored, options.json, ({ filename, aside, logs, tokenFile }) => [
    `${filename} is the database of ${file}`,
    ...(aside === null ? [] : [`the one before it: ${aside}`]),
    ...(tokenFile === null
      ? []
      : [`every token is revoked; a new first token, of write scope, is in ${tokenFile}`]),
    ...(logs.files === 0 ? [] : [`${logs.files} logs put back (${toSize(logs.bytes)})`]),
  ]);
  if (!options.revokeTokens)
    note(
      'Tokens are as they were at that backup: one that was revoked since is good again, and one that was made since is not. With --revoke-tokens all are revoked.',
    );
  note('What was submitted after that backup is not in it: agents stop such processes when they connect.');
}
