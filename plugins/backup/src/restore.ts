import { fail, syncDirectory, withOfflineKernel, type Db, type ResolvedConfig } from '@svc/kernel';
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DATABASE_FILE, LOGS_FOLDER, refuseDamaged, SNAPSHOTS_FOLDER } from './backup.js';
import { copyDatabase } from './copy-database.js';
import type { FileCount } from './files.js';
import { restoreLogs } from './log-files.js';
import { setAside } from './set-aside.js';
import { linkSnapshots } from './snapshot-files.js';

export interface RestoreOrder {
  /** The folder of a backup, its database, or any other SQLite database of svc. */
  readonly file: string;
  readonly config: ResolvedConfig;
  /** In ms since the epoch. */
  readonly at: number;
  /** Changes the backup, brought up to this schema, before it is put in place. */
  readonly prepare?: (db: Db) => Promise<void>;
}

export interface Restored {
  /** The database that is in place now. */
  readonly filename: string;
  /** Where the one before it is; null when there was none. */
  readonly aside: string | null;
  /** Logs that were put back. */
  readonly logs: FileCount;
  /** Snapshots that were put back. */
  readonly snapshots: FileCount;
}

/**
 * Puts a backup in place of the database. Must hold: no server works on the data directory. At every moment the one or the other is in
 * place, whole. Throws, with a sentence and nothing changed, when the file is none of ours, damaged, or of a newer schema.
 */
export async function restoreBackup({ file, config, at, prepare }: RestoreOrder): Promise<Restored> {
  const { database } = config;
  if (database.client !== 'sqlite')
    fail(
      'unavailable',
      'the database is PostgreSQL: restore it with its own tools, as in: pg_restore --clean',
    );
  const { filename } = database;
  const source = await findDatabase(resolve(file));
  if (source === filename) fail('conflict', `${source} is the database that is in place`);
  const workplace = `${filename}.restore`;
  await rm(workplace, { recursive: true, force: true });
  await mkdir(workplace, { recursive: true, mode: 0o700 });
  try {
    const draft = join(workplace, DATABASE_FILE);
    await copyChecked(source, draft);
    const draftConfig = {
      ...config,
      dataDir: workplace,
      database: { client: 'sqlite', filename: draft },
    } as const;
    // Brings it up to the schema of this version. Throws the BootError of one that is newer, or lacks a table of a plugin.
    await withOfflineKernel(draftConfig, async ({ db }) => prepare?.(db));
    const [saved, present] = [dirname(source), config.dataDir];
    const logs = await restoreLogs(join(saved, LOGS_FOLDER), join(present, LOGS_FOLDER));
    const snapshots = await linkSnapshots(join(saved, SNAPSHOTS_FOLDER), join(present, SNAPSHOTS_FOLDER));
    const aside = await setAside(filename, `${filename}.before-restore-${toStamp(at)}`);
    await rename(draft, filename);
    await syncDirectory(dirname(filename));
    return { filename, aside, logs, snapshots };
  } finally {
    await rm(workplace, { recursive: true, force: true });
  }
}

async function findDatabase(path: string): Promise<string> {
  for (const candidate of [path, join(path, DATABASE_FILE)]) if (await isFile(candidate)) return candidate;
  return fail('not_found', `there is no backup ${path}`);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function copyChecked(source: string, draft: string): Promise<void> {
  const { problems, migrations } = await copyDatabase({ from: source, to: draft }).catch((error: unknown) => {
    const { code, message } = error as { code?: string; message: string };
    if (code === 'SQLITE_NOTADB') fail('unavailable', `${source} is no SQLite database`);
    if (code === 'SQLITE_CORRUPT') fail('unavailable', `${source} is damaged: ${message}`);
    throw error;
  });
  refuseDamaged(problems, source);
  if (migrations === null) fail('unavailable', `${source} is no database of svc`);
  await chmod(draft, 0o600);
}

function toStamp(at: number): string {
  return new Date(at).toISOString().replaceAll(':', '-');
}
