import type { Database as SqliteConnection } from 'better-sqlite3';
import { setTimeout as pause } from 'node:timers/promises';

/** What we use of the pool of the one connection. */
interface Pool {
  acquire(): { readonly promise: Promise<unknown> };
  release(connection: object): boolean;
}

const PATIENCE_MS = 5_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 160;
const poolOf = new WeakMap<object, Pool>();

/** From now on waiting statements of the connection lend it to others of that pool, which must have no second one. */
export function lendWhileWaiting(connection: object, pool: Pool): void {
  poolOf.set(connection, pool);
}

export const isLocked = (error: unknown): boolean =>
  ((error as { code?: string } | null)?.code ?? '').startsWith('SQLITE_BUSY');

/**
 * Tries again what another process keeps from being done by a lock on the database, for 5 s at most. SQLite's own waiting would
 * stop the whole process, so it is switched off. A transaction has its lock from its beginning on: inside it nothing waits.
 */
export async function patiently<T>(connection: SqliteConnection, run: () => T | Promise<T>): Promise<T> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await run();
    } catch (error) {
      if (!isLocked(error) || connection.inTransaction || performance.now() >= untilMs) throw error;
    }
    const pool = poolOf.get(connection);
    pool?.release(connection);
    await pause(pauseMs);
    if (pool) await takeBack(pool);
  }
}

/** Whoever waits must have the connection when it goes on, as it is going to release it: there is no giving up. */
async function takeBack(pool: Pool): Promise<void> {
  try {
    await pool.acquire().promise;
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error;
    await takeBack(pool);
  }
}
