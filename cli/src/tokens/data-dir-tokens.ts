import { openDatabase, type Db } from '@svc/kernel';
import { createToken, listTokens, revokeToken } from '@svc/plugin-auth';
import { requireDatabase, withDataDir } from '../data-dir.js';
import { readAll } from './read-all.js';
import type { Tokens } from './token-store.js';

/** Manages the tokens in the database of a data directory that no server uses. */
export async function withTokensOfDataDir<T>(
  dataDir: string,
  work: (tokens: Tokens) => Promise<T>,
): Promise<T> {
  return withDataDir({ dataDir }, async (config) => {
    requireDatabase(config);
    const db = await openDatabase(config.database);
    try {
      return await work(tokensOf(db));
    } finally {
      await db.destroy();
    }
  });
}

function tokensOf(db: Db): Tokens {
  return {
    create: (draft) => createToken(db, draft, Date.now()),
    list: () => readAll((page) => listTokens(db, page)),
    revoke: (id) => revokeToken(db, id, Date.now()),
  };
}
