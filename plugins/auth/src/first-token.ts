import { syncDirectory, type Db } from '@svc/kernel';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createToken, hasTokens } from './token-store.js';

export interface FirstToken {
  readonly token: string;
  readonly file: string;
}

/**
 * In a database that never had a token, creates one of write scope and saves it in `<dataDir>/token`, readable only by the owner. The file
 * is written before the commit: there is no token without its file, and if the file cannot be written, the boot fails.
 */
export async function ensureFirstToken(db: Db, dataDir: string, at: number): Promise<FirstToken | null> {
  return db.transaction(async (trx) => {
    if (await hasTokens(trx)) return null;
    const token = await createFirstToken(trx, at);
    return { token, file: await saveFirstToken(dataDir, token) };
  });
}

export async function createFirstToken(db: Db, at: number): Promise<string> {
  const { token } = await createToken(db, { name: 'first token', scope: 'write', expires_at: null }, at);
  return token;
}

/** Saves the token where the command line of this host finds it; returns the file. */
export async function saveFirstToken(dataDir: string, token: string): Promise<string> {
  const file = join(dataDir, 'token');
  await writePrivate(file, `${token}\n`);
  await syncDirectory(dataDir);
  return file;
}

async function writePrivate(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

/** Syncs the name of a new file to disk. */
