import { isAnswerable } from './boot-error.js';
import { withLimit } from './with-limit.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- taps of every signature
export type Run = (...args: any[]) => unknown;

/** The part of a logger that is used here. */
export interface HookLog {
  warn(about: object, message: string): void;
  error(about: object, message: string): void;
}

/** An observer that takes longer is reported; one that takes longer than HUNG_MS is no longer waited for. */
const SLOW_MS = 1_000;
const HUNG_MS = 10_000;

/** Adds the plugin and the hook to an error of a tap; errors that are meant for the user are unchanged. */
export function failingClosed(run: Run, plugin: string, hook: string) {
  return async (...args: unknown[]): Promise<unknown> => {
    try {
      return await run(...args);
    } catch (cause) {
      if (isAnswerable(cause)) throw cause;
      throw new Error(`plugin "${plugin}" failed in hook "${hook}": ${String(cause)}`, { cause });
    }
  };
}

/** Never rejects: a failure is logged. */
export function isolated(run: Run, plugin: string, hook: string, log: HookLog) {
  return async (...args: unknown[]): Promise<void> => {
    const startedMs = performance.now();
    try {
      await withLimit(HUNG_MS, async () => run(...args));
    } catch (err) {
      log.error({ err, plugin, hook }, `plugin "${plugin}" failed in hook "${hook}"; the others go on`);
    }
    const ms = Math.round(performance.now() - startedMs);
    if (ms > SLOW_MS) log.warn({ plugin, hook, ms }, `plugin "${plugin}" is slow in hook "${hook}"`);
  };
}
