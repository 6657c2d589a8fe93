import { setTimeout as delay } from 'node:timers/promises';

/** Does the work again and again, `pauseMs` after its end, until it is closed. It must not reject. */
export function repeated(work: () => Promise<void>, pauseMs: () => number): { close(): Promise<void> } {
  const closing = new AbortController();
  const loop = (async () => {
    while (!closing.signal.aborted) {
      await work();
      await delay(pauseMs(), undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  })();
  return {
    async close() {
      closing.abort();
      await loop;
    },
  };
}
