import { nextTurn } from '@svc/kernel';

const SLICE_MS = 15;
const FIRST = 64;
/** Fewer after that are not worth a transaction, however slow the last one was. */
const LEAST = 256;
const MOST = 4096;

export interface Slice {
  readonly done: number;
  /** When it got at the database: the wait for others is no work. */
  readonly startedMs: number;
}

/**
 * Does work in slices of about 15 ms, and lets others get at the database and the event loop in between. `slice` does at most so many
 * and answers how many there were: fewer than asked for, and it was the last.
 */
export async function inSlices(slice: (limit: number) => Promise<Slice>): Promise<void> {
  let limit = FIRST;
  for (;;) {
    const { done, startedMs } = await slice(limit);
    if (done < limit) return;
    const tookMs = performance.now() - startedMs;
    limit = Math.min(MOST, Math.max(LEAST, tookMs < SLICE_MS ? limit * 2 : Math.floor(limit / 2)));
    await nextTurn();
  }
}
