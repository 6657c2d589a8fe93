import { existsSync } from 'node:fs';
import {
  ensureDataDir,
  loadConfig,
  lockDataDir,
  openDatabase,
  type Db,
  type ResolvedConfig,
} from '@svc/kernel';
import { createToken, listTokens, revokeToken } from '@svc/plugin-auth';
import { Failure } from '../failure.js';
import { toConfigFile } from '../installation.js';
import type { Tokens } from './token-store.js';

/** Works on the database of a data directory that no server uses now; the lock keeps one from starting meanwhile. */
export async function withTokensOfDataDir<T>(
  dataDir: string,
  work: (tokens: Tokens) => Promise<T>,
): Promise<T> {
  const config = await loadConfig(toConfigFile(), { flags: { dataDir } });
  if (isNew(config))
    throw new Failure(`there is no database in ${config.dataDir} yet: start the server once (svc up)`);
  ensureDataDir(config.dataDir);
  const lock = lockDataDir(config.dataDir);
  try {
    const db = await openDatabase(config.database);
    try {
      return await work(tokensOf(db));
    } finally {
      await db.destroy();
    }
  } finally {
    lock.release();
  }
}

function isNew({ database }: ResolvedConfig): boolean {
  return database.client === 'sqlite' && !existsSync(database.filename);
}

function tokensOf(db: Db): Tokens {
  return {
    create: (draft) => createToken(db, draft, Date.now()),
    list: () => listTokens(db),
    revoke: (id) => revokeToken(db, id, Date.now()),
  };
}
