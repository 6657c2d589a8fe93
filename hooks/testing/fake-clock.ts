import type { Clock, Timer } from '../src/clock.js';

export interface FakeClock extends Clock {
  /** Moves time on, running what falls due in its order, and lets promises settle in between. A timer that is due at once needs no call. */
  advance(ms: number): Promise<void>;
}

interface Due {
  at: number;
  readonly run: () => void;
  readonly periodMs: number | null;
}

/** Time that stands still until it is told to move. */
export function fakeClock(startMs = 1_700_000_000_000): FakeClock {
  const timers = new Set<Due>();
  let nowMs = startMs;

  function add(run: () => void, delayMs: number, periodMs: number | null): Timer {
    const due: Due = { at: nowMs + Math.max(0, delayMs), run, periodMs };
    timers.add(due);
    // What is due already is not to wait for the next `advance`: it may have been asked for during the last one.
    if (due.at <= nowMs) setImmediate(() => runDue(due));
    return { clear: () => void timers.delete(due) };
  }

  function runDue(due: Due): void {
    if (!timers.has(due)) return;
    if (due.periodMs === null) timers.delete(due);
    else due.at += due.periodMs;
    due.run();
  }

  function nextUntil(endMs: number): Due | undefined {
    return [...timers].filter(({ at }) => at <= endMs).sort((a, b) => a.at - b.at)[0];
  }

  return {
    now: () => nowMs,
    setTimeout: (run, delayMs) => add(run, delayMs, null),
    setInterval: (run, periodMs) => add(run, periodMs, Math.max(1, periodMs)),
    async advance(ms) {
      const endMs = nowMs + ms;
      await settle();
      for (let due = nextUntil(endMs); due; due = nextUntil(endMs)) {
        nowMs = Math.max(nowMs, due.at);
        runDue(due);
        await settle();
      }
      nowMs = endMs;
    },
  };
}

/** One turn of the event loop: every promise that waits for no I/O has moved on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
