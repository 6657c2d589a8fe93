import { setImmediate as nextIteration } from 'node:timers/promises';

/** So long may long work of all requests together keep the event loop, before others get their turn. */
const SLICE_MS = 10;

let sliceEndsMs = 0;
let lastTurn = Promise.resolve();

/**
 * Resolves in an iteration of the event loop in which nobody else's turn begins, in the order of the calls: long work that is cut into
 * slices with a turn for each lets whoever asks for little come in between, however many do such work at once. A turn takes a few
 * microseconds when nobody else waits for one.
 */
export function nextTurn(): Promise<void> {
  return (lastTurn = lastTurn.then(() => nextIteration()).then(beginSlice));
}

/** For between two pieces of long work: resolves at once while the slice of this turn lasts, and else with the next turn. */
export async function yieldIfSliceOver(): Promise<void> {
  if (performance.now() >= sliceEndsMs) await nextTurn();
}

/** The same for work that holds what others wait for, such as a transaction: it lets I/O in, and waits for no turn of others. */
export async function yieldToEventLoop(): Promise<void> {
  await nextIteration();
}

function beginSlice(): void {
  sliceEndsMs = performance.now() + SLICE_MS;
}
