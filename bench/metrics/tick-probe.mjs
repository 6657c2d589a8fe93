// Loaded into the server before its own code: notes how late each timer of 2 s (the scheduler's tick) rings, in ms, a line each.
import { appendFileSync } from 'node:fs';

const TICK_MS = 2_000;
const original = globalThis.setInterval;

globalThis.setInterval = (callback, ms, ...args) => {
  if (ms !== TICK_MS) return original(callback, ms, ...args);
  let dueMs = performance.now() + TICK_MS;
  const noted = (...given) => {
    appendFileSync(process.env.SVC_BENCH_TICKS, `${(performance.now() - dueMs).toFixed(1)}\n`);
    dueMs = performance.now() + TICK_MS;
    return callback(...given);
  };
  return original(noted, ms, ...args);
};
