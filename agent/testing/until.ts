import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 5;

/** The value as soon as it is one (not undefined, null or false); rejects after `timeoutMs`, naming what did not come. */
export async function until<T>(
  look: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  what: string,
  timeoutMs = 25_000,
): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > giveUpAt) throw new Error(`${what} did not come within ${timeoutMs} ms`);
    await delay(PAUSE_MS);
  }
}
