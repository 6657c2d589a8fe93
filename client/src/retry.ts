const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

/** Exponential back-off from 250 ms to 5 s; `random` (0 to 1) adds jitter over the upper half. */
export function retryDelayMs(failures: number, random = Math.random()): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures) * (0.5 + random / 2);
}

/** Resolves after that time, or at once when `signal` aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}
