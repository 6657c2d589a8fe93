import { isTokenText } from '@svc/contract';
import { fail, type Caller, type Clock, type Db, type Logger } from '@svc/kernel';
import { hashSecret } from './secret.js';
import { findByHash, noteUse, type TokenRow } from './token-store.js';

/**
 * How long a revocation in another process may go unnoticed; those of this process take effect at once. Together with the interval at
 * which the kernel checks the tokens of open streams (0.5 s), it must be below a second.
 */
const CACHE_MS = 400;
const CACHE_SIZE = 1_000;
/** `last_used_at` is written at most this often per token. */
const USE_MS = 60_000;

interface Known {
  readonly caller: Caller;
  readonly expires_at: number | null;
  readonly read_at: number;
  used_at: number | null;
}

interface AuthContext {
  /** Read at each use: the database opens after setup. */
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Finds the caller of a bearer token, with a cache. */
export class Authenticator {
  /** By hash, least recently used first. */
  readonly #known = new Map<string, Known>();
  /** Pending writes of `last_used_at`, by token id. */
  readonly #noting = new Map<string, Promise<void>>();
  #generation = 0;

  constructor(private readonly ctx: AuthContext) {}

  async authenticate(bearer: string): Promise<Caller | undefined> {
    if (!isTokenText(bearer)) return undefined;
    const hash = hashSecret(bearer);
    const now = this.ctx.clock.now();
    const known = this.#recall(hash, now) ?? (await this.#load(hash, now));
    if (!known) return undefined;
    if (known.expires_at !== null && known.expires_at <= now)
      refuse(`the token "${known.caller.name}" expired at ${toMoment(known.expires_at)}`);
    this.#noteUse(known, now);
    return known.caller;
  }

  /** Resolves when no write of `last_used_at` is pending. */
  async settle(): Promise<void> {
    while (this.#noting.size > 0) await Promise.all(this.#noting.values());
  }

  /** Clears the cache; to be called after a revocation has committed. */
  forgetAll(): void {
    this.#generation += 1;
    this.#known.clear();
  }

  #recall(hash: string, now: number): Known | undefined {
    const known = this.#known.get(hash);
    // A time in the future means that the clock has been set back since.
    if (!known || known.read_at > now || now - known.read_at >= CACHE_MS) return undefined;
    this.#known.delete(hash);
    this.#known.set(hash, known);
    return known;
  }

  async #load(hash: string, now: number): Promise<Known | undefined> {
    const generation = this.#generation;
    const row = await findByHash(this.ctx.db, hash);
    if (!row) return undefined;
    if (row.revoked_at !== null) refuse(`the token "${row.name}" was revoked at ${toMoment(row.revoked_at)}`);
    const known: Known = {
      caller: toCaller(row),
      expires_at: row.expires_at,
      read_at: now,
      used_at: row.last_used_at,
    };
    // A token that was revoked during the read must not enter the cache.
    if (generation === this.#generation) this.#remember(hash, known);
    return known;
  }

  #remember(hash: string, known: Known): void {
    this.#known.delete(hash);
    this.#known.set(hash, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > CACHE_SIZE && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Does not wait for the write, as the database may be locked for long. */
  #noteUse(known: Known, now: number): void {
    const { token_id } = known.caller;
    if (this.#noting.has(token_id) || (known.used_at !== null && now - known.used_at < USE_MS)) return;
    known.used_at = now;
    const noted = this.#storeUse(token_id, now).finally(() => this.#noting.delete(token_id));
    this.#noting.set(token_id, noted);
  }

  async #storeUse(token_id: string, at: number): Promise<void> {
    try {
      await noteUse(this.ctx.db, token_id, at);
    } catch (err) {
      this.ctx.log.warn({ err, token_id }, 'cannot note the last use of a token');
    }
  }
}

/** Only who has the secret of a token is told what is wrong with it; of any other text, that it is unknown. */
function refuse(message: string): never {
  return fail('unauthorized', `${message}: use another one`);
}

function toMoment(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}

function toCaller({ id, name, scope, job_id, attempt, run_id }: TokenRow): Caller {
  const base = { token_id: id, name, scope };
  if (run_id !== null) return { ...base, ingest: { run_id } };
  if (job_id !== null && attempt !== null) return { ...base, ingest: { job_id, attempt } };
  return { ...base, ingest: null };
}
