import { setTimeout } from 'node:timers/promises';
import { measure } from './report.js';

/** Asks `/health` by `ask` again and again until it is stopped; the answer is how long each took, in ms. */
export function watchHealth(ask: () => Promise<unknown>): { stop(): Promise<number[]> } {
  let isOver = false;
  const waits: number[] = [];
  const asking = (async () => {
    while (!isOver) {
      waits.push(...(await measure(1, ask)));
      await setTimeout(2);
    }
    return waits;
  })();
  return {
    stop() {
      isOver = true;
      return asking;
    },
  };
}
