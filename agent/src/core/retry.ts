import { setTimeout as delay } from 'node:timers/promises';
import { toBackoffMs } from './backoff.js';

export interface Patience {
  isWanted(): boolean;
  onFailure(error: unknown): void;
}

/** Tries until it succeeds, ever more slowly. Rejects with the last error when nobody wants it any more. */
export async function retry<T>(task: () => Promise<T>, { isWanted, onFailure }: Patience): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await task();
    } catch (error) {
      onFailure(error);
      await delay(toBackoffMs(failures, Math.random()), undefined, { ref: false });
      if (!isWanted()) throw error;
    }
  }
}
