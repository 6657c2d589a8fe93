export type Timer = { clear(): void };

/** The clock for plugins; tests replace it with `fakeClock`. All times are in milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  setTimeout(run: () => void, delayMs: number): Timer;
  /** Never keeps the process alive. */
  setInterval(run: () => void, periodMs: number): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(run, delayMs) {
    const timer = setTimeout(run, delayMs);
    return { clear: () => clearTimeout(timer) };
  },
  setInterval(run, periodMs) {
    const timer = setInterval(run, periodMs).unref();
    return { clear: () => clearInterval(timer) };
  },
};
