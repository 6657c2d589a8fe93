import { nextTurn } from '@svc/kernel';

const SLICE_MS = 15;

/**
 * Does work in slices of about 15 ms, and lets others get at the database and the event loop in between. `slice` does at most so many
 * and answers how many there were: fewer than asked for, and it was the last.
 */
export async function inSlices(slice: (limit: number) => Promise<number>): Promise<void> {
  let limit = 64;
  for (;;) {
    const startedMs = performance.now();
    const done = await slice(limit);
    if (done < limit) return;
    const tookMs = performance.now() - startedMs;
    limit = Math.min(4096, Math.max(16, tookMs < SLICE_MS ? limit * 2 : Math.floor(limit / 2)));
    await nextTurn();
  }
}
