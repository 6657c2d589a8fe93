import { HttpError, type Clock, type Db } from '@svc/kernel';
import { createSecret, hashSecret } from './secret.js';
import { createToken } from './token-store.js';
import type { SignInLink } from './service.js';

const LINK_MS = 10 * 60_000;
const CONSOLE_TOKEN_MS = 7 * 24 * 60 * 60_000;

/** Only the hash of the code is stored. */
export async function createSignInLink(db: Db, at: number): Promise<SignInLink> {
  const code = createSecret();
  const expires_at = at + LINK_MS;
  await db('sign_in_links').insert({ code_hash: hashSecret(code), expires_at });
  return { code, expires_at };
}

/** Uses the code up and answers a token for the console; null when it is unknown, used or expired. */
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

/** How often one address may guess. Counted before the guess, so that guesses at the same time all count. */
export class GuessLimit {
  readonly #windows = new Map<string, { guesses: number; readonly ends_at: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly maxGuesses = 10,
    private readonly windowMs = 60_000,
  ) {}

  /** Throws rate_limited. */
  count(address: string): void {
    const now = this.clock.now();
    this.#forgetPast(now);
    const window = this.#windows.get(address) ?? { guesses: 0, ends_at: now + this.windowMs };
    if (window.guesses >= this.maxGuesses) refuse(window.ends_at - now);
    window.guesses += 1;
    this.#windows.set(address, window);
  }

  /** The guess was right: it does not count. */
  forgive(address: string): void {
    const window = this.#windows.get(address);
    if (window) window.guesses -= 1;
  }

  #forgetPast(now: number): void {
    for (const [address, { ends_at }] of this.#windows) if (ends_at <= now) this.#windows.delete(address);
  }
}

function refuse(waitMs: number): never {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const message = `too many wrong sign-in codes; try again in ${seconds} s, or sign in with a token`;
  throw new HttpError(
    'rate_limited',
    message,
    { retry_after_s: seconds },
    { 'retry-after': String(seconds) },
  );
}
