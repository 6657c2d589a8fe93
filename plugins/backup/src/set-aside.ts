import { fail } from '@svc/kernel';
import Database from 'better-sqlite3';
import { rm } from 'node:fs/promises';
import { linkOrCopy, sizeOf } from './files.js';

const JOURNALS = ['-wal', '-shm', '-journal'] as const;

/**
 * Gives the database a second name, so that its first can be given to another. What its write-ahead log holds is brought into it
 * before: a log that is left behind, by a database that is gone too, would be taken for the other one's. Returns that name, or null when
 * there is no database.
 */
export async function setAside(filename: string, aside: string): Promise<string | null> {
  const isThere = (await sizeOf(filename)) !== null;
  if (!isThere || !foldJournal(filename)) await moveJournals(filename, aside);
  if (!isThere) return null;
  await linkOrCopy(filename, aside);
  return aside;
}

/** False: the database is damaged, and cannot be opened. */
function foldJournal(filename: string): boolean {
  let db: Database.Database | undefined;
  try {
    db = new Database(filename, { fileMustExist: true, timeout: 0 });
    return db.pragma('journal_mode = DELETE', { simple: true }) === 'delete';
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY'))
      fail('conflict', `another program has ${filename} open; close it first`);
    return false;
  } finally {
    db?.close();
  }
}

async function moveJournals(filename: string, aside: string): Promise<void> {
  for (const ending of JOURNALS) {
    if ((await sizeOf(filename + ending)) === null) continue;
    await linkOrCopy(filename + ending, aside + ending);
    await rm(filename + ending);
  }
}
