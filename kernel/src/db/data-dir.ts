import { failBoot } from '@svc/hooks';
import Database from 'better-sqlite3';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';

export type FileLock = { release(): void };

/** Makes the directory, for its owner alone. */
export function ensureDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    chmodSync(dataDir, 0o700);
  } catch (error) {
    failBoot(`cannot make the data directory ${dataDir}: ${(error as Error).message}`, 'dataDir', error);
  }
}

/** Ensures one server per data directory. */
export function lockDataDir(dataDir: string): FileLock {
  const lock = lockFile(join(dataDir, 'server.lock'));
  return lock ?? failBoot(`a server is running on the data directory ${dataDir}; stop it first`, 'dataDir');
}

/**
 * null when another process still has it after `waitMs`. The lock is that of SQLite on an empty file: the operating system releases it however
 * the process ends, so it can never be stale.
 */
export function lockFile(file: string, waitMs = 0): FileLock | null {
  // An existing file must not be opened here: closing it would release every lock that this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  const holder = new Database(file, { timeout: waitMs });
  try {
    holder.exec('BEGIN EXCLUSIVE');
    return { release: () => void holder.close() };
  } catch (error) {
    holder.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    return null;
  }
}
