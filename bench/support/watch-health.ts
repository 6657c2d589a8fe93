import { setTimeout } from 'node:timers/promises';
import type { TestKernel } from '@svc/kernel/testing';
import { measure } from './report.js';

/** Asks again and again until it is stopped; the answer is how long each took, in ms. */
export function watchHealth(kernel: TestKernel): { stop(): Promise<number[]> } {
  let isOver = false;
  const waits: number[] = [];
  const asking = (async () => {
    while (!isOver) {
      const [wait] = await measure(1, () => kernel.request('GET', '/health'));
      waits.push(wait!);
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
