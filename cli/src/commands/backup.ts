import { routes } from '@svc/contract';
import type { Command } from 'commander';
import type { DataDirOptions } from '../data-dir.js';
import { toSize } from '../output/format.js';
import { note, print } from '../output/print.js';
import { isServerMeant } from '../settings.js';
import { connect, withJson, type JsonOptions } from './connected.js';

const CONFIG_OPTION = [
  '--config <file>',
  'configuration file (default: ./svc.config.ts, else the one that comes with svc)',
] as const;

export function addBackupCommands(program: Command): void {
  withJson(program.command('backup').option(...CONFIG_OPTION))
    .description(
      'back up the database, the logs and the snapshots, through the server or, while none runs, from its data directory',
    )
    .addHelpText('after', '\nExample:\n  svc backup --json')
    .action(backUp);

  program
    .command('restore')
    .description('restore a backup; the server must not run')
    .argument('<file>', 'directory of a backup, or a database file')
    .option(...CONFIG_OPTION)
    .option('--data-dir <dir>', 'data directory of the server (SVC_DATA_DIR; default: ~/.svc)')
    .option('--revoke-tokens', 'revoke every token of the backup and create a new first token')
    .option('--json', 'print the result as JSON')
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
  print(restored, options.json, ({ filename, aside, logs, snapshots, tokenFile }) => [
    `restored ${file} to ${filename}`,
    ...(aside === null ? [] : [`the previous database is kept as ${aside}`]),
    ...(tokenFile === null
      ? []
      : [`all tokens are revoked; a new first token with write scope is in ${tokenFile}`]),
    ...(logs.files === 0 ? [] : [`restored ${logs.files} logs (${toSize(logs.bytes)})`]),
    ...(snapshots.files === 0 ? [] : [`restored ${snapshots.files} snapshots (${toSize(snapshots.bytes)})`]),
  ]);
  if (!options.revokeTokens)
    note(
      'Tokens are as they were at the time of the backup: a token that was revoked since then is valid again, and one that was created since then is not. --revoke-tokens revokes all of them.',
    );
  note(
    'Jobs that were submitted after the backup are not in it: agents stop their processes when they connect.',
  );
}
