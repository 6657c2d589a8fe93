import { HttpError, fail, syncDirectory, type Db } from '@svc/kernel';
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { copyDatabase, type CheckedCopy } from './copy-database.js';
import { namesIn, type FileCount } from './files.js';
import { copyLogs } from './log-files.js';
import { linkSnapshots } from './snapshot-files.js';

export const DEFAULT_KEEP = 7;
export const DATABASE_FILE = 'svc.db';
export const LOGS_FOLDER = 'logs';
export const SNAPSHOTS_FOLDER = 'snapshots';

const PARTIAL = '.partial';
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-schema-\d+$/;

export interface BackupOrder {
  readonly dataDir: string;
  /** The SQLite file. */
  readonly filename: string;
  /** Of the name of the backup, in ms since the epoch. */
  readonly at: number;
  /** So many backups stay, the newest, this one among them. */
  readonly keep: number;
  /** The server's own connection, when there is a server. */
  readonly db?: Db | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Backup {
  /** Of the database; the logs and the snapshots are in folders beside it. */
  readonly path: string;
  /** Of the database, in bytes. */
  readonly size: number;
  readonly logs: FileCount;
  readonly snapshots: FileCount;
}

/**
 * Makes a folder in `<dataDir>/backups`: the database as it was at one moment, checked, the logs and the snapshots. The folder has its name once it is
 * whole. Throws unavailable, with a sentence, when the database or the disk does not allow it now, or the server stops. One at a time.
 */
export async function createBackup(order: BackupOrder): Promise<Backup> {
  const backups = join(order.dataDir, 'backups');
  const draft = join(backups, `${order.at}${PARTIAL}`);
  try {
    await mkdir(backups, { recursive: true, mode: 0o700 });
    await removeParts(backups);
    await mkdir(draft, { mode: 0o700 });
    const migrations = await copyChecked(order, join(draft, DATABASE_FILE));
    const logs = await copyLogs(join(order.dataDir, LOGS_FOLDER), join(draft, LOGS_FOLDER));
    const snapshots = await linkSnapshots(
      join(order.dataDir, SNAPSHOTS_FOLDER),
      join(draft, SNAPSHOTS_FOLDER),
    );
    await syncDirectory(draft);
    const name = toName(order.at, migrations);
    const folder = join(backups, name);
    await rename(draft, folder);
    await syncDirectory(backups);
    const path = join(folder, DATABASE_FILE);
    const { size } = await stat(path);
    await removeOld(backups, name, order.keep);
    return { path, size, logs, snapshots };
  } catch (error) {
    // What cannot be removed now is cleared away by the next.
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw explain(error, order, backups);
  }
}

async function copyChecked({ filename: from, db, signal }: BackupOrder, to: string): Promise<number> {
  const { problems, migrations } = await copyDatabase({ from, to, db, signal });
  refuseDamaged(problems, from);
  await chmod(to, 0o600);
  return migrations ?? 0;
}

/** Throws unavailable. */
export function refuseDamaged(problems: CheckedCopy['problems'], file: string): void {
  if (problems.length === 0) return;
  fail('unavailable', `${file} is damaged: ${problems[0]}`, { problems });
}

/** What a server that died left of a backup. */
async function removeParts(backups: string): Promise<void> {
  const parts = (await namesIn(backups)).filter((name) => name.endsWith(PARTIAL));
  for (const part of parts) await rm(join(backups, part), { recursive: true, force: true });
}

/** `newest` has just been made, and counts as that by whatever time it is called: the clock may have been set back. */
async function removeOld(backups: string, newest: string, keep: number): Promise<void> {
  const others = (await namesIn(backups)).filter((name) => NAME.test(name) && name !== newest).sort();
  for (const name of [...others, newest].slice(0, -keep))
    await rm(join(backups, name), { recursive: true, force: true });
}

function toName(at: number, migrations: number): string {
  return `${new Date(at).toISOString().replaceAll(':', '-')}-schema-${migrations}`;
}

const NO_ROOM = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/;
const DAMAGED = /^SQLITE_CORRUPT/;
const NOT_NOW = /^SQLITE_(BUSY|CANTOPEN|IOERR|LOCKED|NOTADB|PERM|PROTOCOL|READONLY)/;
const TOO_MANY_FILES = /^(EMFILE|ENFILE)$/;

/** What is worth telling is a sentence; anything else is a defect. */
function explain(error: unknown, { filename, signal }: BackupOrder, backups: string): unknown {
  const { code = '', message } = error as { code?: string; message: string };
  const tell = (sentence: string) => new HttpError('unavailable', sentence);
  if (NO_ROOM.test(code)) return tell(`there is no room for a backup in ${backups}`);
  if (DAMAGED.test(code)) return tell(`${filename} is damaged: ${message}`);
  if (NOT_NOW.test(code)) return tell(`${filename} cannot be copied now: ${message}; try again`);
  if (TOO_MANY_FILES.test(code))
    return tell('too many files are open for a backup: raise the limit (ulimit -n), or try again');
  if (signal?.aborted) return tell('the server is stopping and makes no backup; ask again when it runs');
  return error;
}
