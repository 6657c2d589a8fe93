import type { Database as SqliteConnection } from 'better-sqlite3';
import { setTimeout as pause } from 'node:timers/promises';

/** The part of the connection pool's interface that is used here. */
interface Pool {
  acquire(): { readonly promise: Promise<unknown> };
  release(connection: object): boolean;
}

const MAX_WAIT_MS = 5_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 160;
const poolOf = new WeakMap<object, Pool>();

/** While a statement of the connection waits for a lock, others of the pool can use the connection; it must be the only one. */
export function releaseWhileWaiting(connection: object, pool: Pool): void {
  poolOf.set(connection, pool);
}

export const isLocked = (error: unknown): boolean =>
  ((error as { code?: string } | null)?.code ?? '').startsWith('SQLITE_BUSY');

/**
 * Retries `run` for at most 5 s while another process has locked the database. SQLite's own waiting would block the whole process, so it
 * is switched off. A transaction takes its lock at its beginning: nothing inside it is retried.
 */
export async function retryWhileLocked<T>(
  connection: SqliteConnection,
  run: () => T | Promise<T>,
): Promise<T> {
  const untilMs = performance.now() + MAX_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await run();
    } catch (error) {
      if (!isLocked(error) || connection.inTransaction || performance.now() >= untilMs) throw error;
    }
    const pool = poolOf.get(connection);
    pool?.release(connection);
    await pause(pauseMs);
    if (pool) await reacquire(pool);
  }
}

/** Must hold: the caller has the connection again afterwards, as it will release it. So a time-out of the pool is retried. */
async function reacquire(pool: Pool): Promise<void> {
  try {
    await pool.acquire().promise;
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error;
    await reacquire(pool);
  }
}
