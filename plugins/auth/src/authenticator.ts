import type { Caller, Clock, Db, Logger } from '@svc/kernel';
import { hashSecret, isTokenText } from './secret.js';
import { findByHash, noteUse, type TokenRow } from './token-store.js';

/**
 * How long another process's revocation may go unnoticed; this process notices its own at once. With the kernel's look at the
 * tokens of open streams, twice a second, it must stay below a second.
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

interface Surroundings {
  /** Looked up at each use: the database opens after setup. */
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Finds out who is behind a bearer token, from memory where it can. */
export class Authenticator {
  /** By hash, in order of last use. */
  readonly #known = new Map<string, Known>();
  /** Uses on their way to the database, by the token's id. */
  readonly #noting = new Map<string, Promise<void>>();
  #generation = 0;

  constructor(private readonly around: Surroundings) {}

  async authenticate(bearer: string): Promise<Caller | undefined> {
    if (!isTokenText(bearer)) return undefined;
    const hash = hashSecret(bearer);
    const now = this.around.clock.now();
    const known = this.#recall(hash, now) ?? (await this.#load(hash, now));
    if (!known || (known.expires_at !== null && known.expires_at <= now)) return undefined;
    this.#noteUse(known, now);
    return known.caller;
  }

  /** Resolves when no use is on its way to the database. */
  async settle(): Promise<void> {
    while (this.#noting.size > 0) await Promise.all(this.#noting.values());
  }

  /** After a revocation has committed: nothing is answered from memory any more. */
  forgetAll(): void {
    this.#generation += 1;
    this.#known.clear();
  }

  #recall(hash: string, now: number): Known | undefined {
    const known = this.#known.get(hash);
    if (!known || now - known.read_at >= CACHE_MS) return undefined;
    this.#known.delete(hash);
    this.#known.set(hash, known);
    return known;
  }

  async #load(hash: string, now: number): Promise<Known | undefined> {
    const generation = this.#generation;
    const row = await findByHash(this.around.db, hash);
    if (!row || row.revoked_at !== null) return undefined;
    const known: Known = {
      caller: toCaller(row),
      expires_at: row.expires_at,
      read_at: now,
      used_at: row.last_used_at,
    };
    // A token revoked while it was read must not come back from memory.
    if (generation === this.#generation) this.#remember(hash, known);
    return known;
  }

  #remember(hash: string, known: Known): void {
    this.#known.delete(hash);
    this.#known.set(hash, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > CACHE_SIZE && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Nobody waits for it: the database may be locked against writing for long. */
  #noteUse(known: Known, now: number): void {
    const { token_id } = known.caller;
    if (this.#noting.has(token_id) || (known.used_at !== null && now - known.used_at < USE_MS)) return;
    known.used_at = now;
    const noted = this.#storeUse(token_id, now).finally(() => this.#noting.delete(token_id));
    this.#noting.set(token_id, noted);
  }

  async #storeUse(token_id: string, at: number): Promise<void> {
    try {
      await noteUse(this.around.db, token_id, at);
    } catch (err) {
      this.around.log.warn({ err, token_id }, 'cannot note the last use of a token');
    }
  }
}

function toCaller({ id, name, scope, job_id, attempt, run_id }: TokenRow): Caller {
  const base = { token_id: id, name, scope };
  if (run_id !== null) return { ...base, ingest: { run_id } };
  if (job_id !== null && attempt !== null) return { ...base, ingest: { job_id, attempt } };
  return { ...base, ingest: null };
}
