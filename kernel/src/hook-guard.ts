import type { Hook } from 'tapable';
import { didYouMean } from './did-you-mean.js';
import { BootError, isAnswerable } from './errors.js';
import {
  createDecisionHooks,
  createObservationHooks,
  createRegistrationHooks,
  type Fire,
  type PublicHooks,
  type RegistrationHooks,
} from './hooks.js';
import type { Logger } from './logger.js';
import { withLimit } from './with-limit.js';

export interface GuardedHooks {
  readonly registration: RegistrationHooks;
  readonly fire: Fire;
  /** The plugin whose registration tap runs now. */
  readonly registering: () => string;
  /** The hooks as that plugin sees them. */
  facadeFor(plugin: string): PublicHooks;
  /** After setup nothing can be tapped any more: tapable knows no untap. */
  freeze(): void;
}

/** An observer that takes longer is reported; one that takes longer than HUNG_MS is no longer waited for. */
const SLOW_MS = 1_000;
const HUNG_MS = 10_000;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- hooks of every signature
type AnyHook = Hook<any, any> & { tapPromise?: Hook<any, any>['tap'] };
type Run = (...args: unknown[]) => unknown;
interface Tap {
  readonly name: string;
  readonly before?: string | string[];
  readonly stage?: number;
}

/**
 * tapable does not say whose tap threw, puts a tap whose `before` names no tap in front of all, and lets the first
 * failure end a parallel hook. The guard on each hook says it, refuses it, and isolates observers.
 */
export function createGuardedHooks(plugins: readonly string[], log: Logger): GuardedHooks {
  const registration = createRegistrationHooks();
  const decision = createDecisionHooks();
  const observation = createObservationHooks();
  const hooks = Object.entries<AnyHook>({ ...registration, ...decision, ...observation });
  let isFrozen = false;
  let registering = '';

  for (const [name, hook] of hooks) {
    const isObservation = name in observation;
    hook.intercept({
      tap: (tap) => void (registering = tap.name),
      register(tap) {
        if (isFrozen)
          throw new BootError(`plugin "${tap.name}" taps "${name}" after its setup: tap in setup()`);
        const run = tap.fn as Run;
        const place = { ...tap, before: placeBefore(tap as Tap, name, hook) as never };
        if (isObservation) return { ...place, type: 'promise', fn: isolated(run, tap.name, name, log) };
        return { ...place, fn: failingClosed(run, tap.name, name) };
      },
    });
  }

  /** Who has not tapped yet comes later anyway, so only those that have are passed on. */
  function placeBefore(tap: Tap, name: string, hook: AnyHook): string[] {
    const where = `plugin "${tap.name}", hook "${name}"`;
    if (!Number.isInteger(tap.stage ?? 0))
      throw new BootError(`${where}: stage must be an integer`, tap.name);
    const before = [tap.before ?? []].flat();
    const unknown = before.find((other) => !plugins.includes(other));
    if (unknown === undefined)
      return before.filter((other) => hook.taps.some((known) => known.name === other));
    const guess = didYouMean(unknown, plugins);
    throw new BootError(`${where}: before names "${unknown}", which is no plugin${guess}`, tap.name);
  }

  function facadeOf(name: string, hook: AnyHook, plugin: string) {
    const own = (options: string | Tap) => ({ ...(typeof options === 'object' && options), name: plugin });
    const tap = (options: string | Tap, run: Run) => hook.tap(own(options) as { name: string }, run);
    const tapPromise = (options: string | Tap, run: Run) =>
      hook.tapPromise?.(own(options) as { name: string }, run);
    return Object.freeze(name in registration ? { tap } : { tap, tapPromise });
  }

  const runtime = Object.entries<AnyHook>({ ...decision, ...observation });
  return {
    registration,
    fire: Object.fromEntries(runtime.map(([name, hook]) => [name, hook.promise.bind(hook)])) as Fire,
    registering: () => registering,
    facadeFor: (plugin) =>
      Object.freeze(
        Object.fromEntries(hooks.map(([name, hook]) => [name, facadeOf(name, hook, plugin)])),
      ) as PublicHooks,
    freeze: () => void (isFrozen = true),
  };
}

function failingClosed(run: Run, plugin: string, hook: string): Run {
  const rethrow = (cause: unknown): never => {
    if (isAnswerable(cause)) throw cause;
    throw new Error(`plugin "${plugin}" failed in hook "${hook}": ${String(cause)}`, { cause });
  };
  return (...args) => {
    try {
      const result = run(...args);
      return result instanceof Promise ? result.catch(rethrow) : result;
    } catch (cause) {
      return rethrow(cause);
    }
  };
}

function isolated(run: Run, plugin: string, hook: string, log: Logger): Run {
  return async (...args) => {
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
