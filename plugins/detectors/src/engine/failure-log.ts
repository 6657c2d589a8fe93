import type { PluginContext } from '@svc/kernel';
import { TooManyTroubles } from './troubles.js';

const LOG_EVERY_MS = 60_000;

interface Failures {
  loggedAt: number;
  /** Since then. */
  count: number;
}

/** Logs what is wrong with a detector: at once, and then once a minute with the number of times, as it may fail for every batch. */
export class FailureLog {
  readonly #of = new Map<string, Failures>();

  constructor(private readonly ctx: Pick<PluginContext, 'clock' | 'log'>) {}

  readonly report = (detector: string, err: unknown): void => {
    const failures = this.#of.get(detector) ?? { loggedAt: -Infinity, count: 0 };
    this.#of.set(detector, failures);
    failures.count += 1;
    const now = this.ctx.clock.now();
    if (now - failures.loggedAt < LOG_EVERY_MS) return;
    const times = failures.count === 1 ? '' : ` ${failures.count} times`;
    const { log } = this.ctx;
    if (err instanceof TooManyTroubles) log.warn({ detector }, `the detector ${detector}: ${err.message}`);
    else log.error({ err, detector }, `the detector ${detector} failed${times}`);
    Object.assign(failures, { loggedAt: now, count: 0 });
  };
}
