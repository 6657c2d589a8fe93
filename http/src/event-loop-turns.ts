import { setImmediate as nextIteration } from 'node:timers/promises';

/** How long the long-running work of all requests together may block the event loop. */
const SLICE_MS = 10;

let sliceEndsMs = 0;
let lastTurn = Promise.resolve();

/**
 * Resolves in a later iteration of the event loop, one call per iteration, in the order of the calls. Long work that waits for a turn before
 * each slice lets short requests run in between, however many such works there are. A turn takes a few microseconds when no other call
 * waits.
 */
export function nextTurn(): Promise<void> {
  return (lastTurn = lastTurn.then(() => nextIteration()).then(beginSlice));
}

/** To be called between two pieces of long work: resolves at once while the present slice lasts, and otherwise with the next turn. */
export async function yieldIfSliceOver(): Promise<void> {
  if (performance.now() >= sliceEndsMs) await nextTurn();
}

/** For work that holds what others wait for, such as a transaction: lets I/O run, but does not wait for the turns of others. */
export async function yieldToEventLoop(): Promise<void> {
  await nextIteration();
}

function beginSlice(): void {
  sliceEndsMs = performance.now() + SLICE_MS;
}
