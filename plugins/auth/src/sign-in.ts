import type { Db } from '@svc/kernel';
import { createSecret, hashSecret } from './secret.js';
import { createToken } from './token-store.js';

const LINK_MS = 10 * 60_000;
const CONSOLE_TOKEN_MS = 7 * 24 * 60 * 60_000;

/** A one-time code that signs a browser in; valid 10 minutes. Only its hash is stored. */
export async function createSignInLink(db: Db, at: number) {
  const code = createSecret();
  const expires_at = at + LINK_MS;
  await db('sign_in_links').insert({ code_hash: hashSecret(code), expires_at });
  return { code, expires_at };
}

/** Deletes the code and returns a token for the console; null when the code is unknown, used or expired. */
export async function redeemSignInLink(db: Db, code: string, at: number): Promise<string | null> {
  return db.transaction(async (trx) => {
    const used = await trx('sign_in_links')
      .where({ code_hash: hashSecret(code) })
      .where('expires_at', '>', at)
      .delete();
    if (used === 0) return null;
    const draft = { name: 'console sign-in', scope: 'write', expires_at: at + CONSOLE_TOKEN_MS } as const;
    return (await createToken(trx, draft, at)).token;
  });
}

export async function deleteExpiredLinks(db: Db, at: number): Promise<void> {
  await db('sign_in_links').where('expires_at', '<=', at).delete();
}
