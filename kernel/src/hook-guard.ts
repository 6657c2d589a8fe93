import type { Hook } from 'tapable';
import { failBoot, isAnswerable, withLimit } from '@svc/hooks';
import { didYouMean } from '@svc/validation';
import { createDecisionHooks, createObservationHooks, createRegistrationHooks } from './hooks.js';
import type { Fire, PublicHooks, RegistrationHooks } from './hooks.js';
import type { Logger } from './logger.js';

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
type Place = { readonly name: string; readonly before?: string | string[]; readonly stage?: number };

/**
 * tapable does not say whose tap threw, puts a tap whose `before` names no tap in front of all, and lets the first
 * failure end a parallel hook. The guard on each hook says it, refuses it, and isolates observers.
 */
export function createGuardedHooks(plugins: readonly string[], log: Logger): GuardedHooks {
  const registration = createRegistrationHooks();
  const observation = createObservationHooks();
  const runtime = { ...createDecisionHooks(), ...observation };
  const hooks = Object.entries<AnyHook>({ ...registration, ...runtime });
  let isFrozen = false;
  let registering = '';

  for (const [name, hook] of hooks) {
    hook.intercept({
      tap: (tap) => void (registering = tap.name),
      register(tap) {
        const { name: plugin, fn } = tap as unknown as { name: string; fn: Run };
        if (isFrozen) failBoot(`plugin "${plugin}" taps "${name}" after its setup: tap in setup()`, plugin);
        const placed = { ...tap, before: placeBefore(tap, name, hook) as never };
        if (!(name in observation)) return { ...placed, fn: failingClosed(fn, plugin, name) };
        return { ...placed, type: 'promise', fn: isolated(fn, plugin, name, log) };
      },
    });
  }

  /** Who has not tapped yet comes later anyway, so only those that have are passed on. */
  function placeBefore(
    { name: plugin, before = [], stage = 0 }: Place,
    name: string,
    { taps }: AnyHook,
  ): string[] {
    const where = `plugin "${plugin}", hook "${name}"`;
    if (!Number.isInteger(stage)) failBoot(`${where}: stage must be an integer`, plugin);
    for (const other of [before].flat().filter((known) => !plugins.includes(known))) {
      failBoot(`${where}: before names "${other}", which is no plugin${didYouMean(other, plugins)}`, plugin);
    }
    return [before].flat().filter((other) => taps.some((tapped) => tapped.name === other));
  }

  function facadeOf(plugin: string, name: string, hook: AnyHook) {
    const own = (place: string | Place) =>
      ({ ...(typeof place === 'object' && place), name: plugin }) as { name: string };
    const tap = (place: string | Place, run: Run) => hook.tap(own(place), run);
    const tapPromise = (place: string | Place, run: Run) => hook.tapPromise?.(own(place), run);
    return Object.freeze(name in registration ? { tap } : { tap, tapPromise });
  }

  return {
    registration,
    fire: mapValues<AnyHook>(Object.entries(runtime), (_, hook) => firing(hook)) as Fire,
    registering: () => registering,
    facadeFor: (plugin) =>
      mapValues(hooks, (name, hook) => facadeOf(plugin, name, hook)) as unknown as PublicHooks,
    freeze: () => void (isFrozen = true),
  };
}

function mapValues<T>(
  entries: [string, T][],
  map: (name: string, value: T) => unknown,
): Record<string, unknown> {
  return Object.freeze(Object.fromEntries(entries.map(([name, value]) => [name, map(name, value)])));
}

/** Looks it up at each call: at the first one tapable puts there what it has compiled. */
function firing(hook: AnyHook): Run {
  return (...args) => hook.promise(...args);
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
