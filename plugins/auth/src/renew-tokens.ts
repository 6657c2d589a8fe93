import type { Db } from '@svc/kernel';
import { createFirstToken } from './first-token.js';

/** Revokes every token, those of running attempts too, and makes a first token: for a database that comes from a backup. */
export async function renewTokens(db: Db, at: number): Promise<string> {
  return db.transaction(async (trx) => {
    await trx('tokens').whereNull('revoked_at').update({ revoked_at: at });
    await trx('sign_in_links').delete();
    return createFirstToken(trx, at);
  });
}
