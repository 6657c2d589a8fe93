import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  AsyncSeriesWaterfallHook,
  SyncHook,
  type Hook,
} from 'tapable';
import { didYouMean } from './did-you-mean.js';
import { BootError, isAnswerable } from './errors.js';
import type {
  DecisionHooks,
  Fire,
  Hooks,
  ObservationHooks,
  PublicHooks,
  RegistrationHooks,
} from './hooks.js';
import type { Logger } from './logger.js';

export interface HookTable {
  readonly registration: RegistrationHooks;
  readonly fire: Fire;
  /** The plugin whose registration tap runs now. */
  readonly registering: () => string;
  /** The hooks as that plugin sees them: it can tap, under its own name. */
  facadeFor(plugin: string): PublicHooks;
  /** After setup nothing can be tapped any more: tapable knows no untap. */
  freeze(): void;
}

/** An observer that takes longer is reported. */
const SLOW_MS = 1_000;
/** An observer that takes longer is no longer waited for. */
const HUNG_MS = 10_000;

type TapFunction = (...args: unknown[]) => unknown;
type TapOptions = string | { name: string; before?: string | string[]; stage?: number };
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- hooks of every signature
type AnyHook = Hook<any, any>;
type Wrap = (tap: TapFunction, plugin: string, hook: string) => TapFunction;

const createRegistrationHooks = (): RegistrationHooks => ({
  routes: new SyncHook(['routes']),
  runners: new SyncHook(['runners']),
  detectors: new SyncHook(['detectors']),
  notifiers: new SyncHook(['notifiers']),
  semanticRules: new SyncHook(['semanticRules']),
});

const createDecisionHooks = (): DecisionHooks => ({
  authenticate: new AsyncSeriesBailHook(['bearer']),
  jobDraft: new AsyncSeriesWaterfallHook(['draft', 'caller']),
  jobAdmit: new AsyncSeriesHook(['draft', 'caller', 'issues']),
  jobOrder: new AsyncSeriesWaterfallHook(['queue']),
  attemptPrepare: new AsyncSeriesWaterfallHook(['plan']),
  jobTransition: new AsyncSeriesHook(['transition']),
});

const createObservationHooks = (): ObservationHooks => ({
  jobChanged: new AsyncParallelHook(['change']),
  runChanged: new AsyncParallelHook(['change']),
  nodeChanged: new AsyncParallelHook(['change']),
  eventAppended: new AsyncParallelHook(['event']),
  pointsAppended: new AsyncParallelHook(['batch']),
  linesAppended: new AsyncParallelHook(['batch']),
});

export function createHookTable(plugins: readonly string[], log: Logger): HookTable {
  const registration = createRegistrationHooks();
  const decision = createDecisionHooks();
  const observation = createObservationHooks();
  const hooks: Hooks = { ...registration, ...decision, ...observation };
  let isFrozen = false;
  let registering = '';

  guard({ ...registration, ...decision }, failingClosed);
  guard(observation, isolating(log));

  function guard(family: Partial<Hooks>, wrap: Wrap): void {
    for (const [name, hook] of Object.entries(family) as [string, AnyHook][]) {
      hook.intercept({
        tap: (tap) => void (registering = tap.name),
        register(tap) {
          if (isFrozen)
            throw new BootError(`plugin "${tap.name}" taps "${name}" after its setup: tap in setup()`);
          const wrapped = wrap(tap.fn as TapFunction, tap.name, name);
          return {
            ...tap,
            ...positionOf(tap, name),
            fn: wrapped,
            type: wrap === failingClosed ? tap.type : 'promise',
          };
        },
      });
    }
  }

  /** tapable puts a tap whose `before` names no tap in front of all: the name must at least be a plugin's. */
  function positionOf(tap: { name: string; before?: string | string[]; stage?: number }, hook: string) {
    const where = `plugin "${tap.name}", hook "${hook}"`;
    if (tap.stage !== undefined && !Number.isInteger(tap.stage))
      throw new BootError(`${where}: stage must be an integer`);
    const before = [tap.before ?? []].flat();
    const unknown = before.find((name) => !plugins.includes(name));
    if (unknown)
      throw new BootError(
        `${where}: before names "${unknown}", which is no plugin${didYouMean(unknown, plugins)}`,
      );
    const tapped = new Set((hooks[hook as keyof Hooks] as AnyHook).taps.map(({ name }) => name));
    // Who has not tapped yet comes later anyway.
    return { before: before.filter((name) => tapped.has(name)) as unknown as string };
  }

  function facadeFor(plugin: string): PublicHooks {
    const own = (options: TapOptions) => ({ ...(typeof options === 'object' ? options : {}), name: plugin });
    const facade = Object.entries(hooks).map(([name, hook]: [string, AnyHook]) => {
      const tap = (options: TapOptions, run: TapFunction) => hook.tap(own(options) as { name: string }, run);
      const tapPromise = (options: TapOptions, run: TapFunction) =>
        (hook as unknown as { tapPromise: typeof tap }).tapPromise(own(options), run);
      return [name, Object.freeze(name in registration ? { tap } : { tap, tapPromise })];
    });
    return Object.freeze(Object.fromEntries(facade)) as PublicHooks;
  }

  const fire = Object.fromEntries(
    Object.entries<AnyHook>({ ...decision, ...observation }).map(([name, hook]) => [
      name,
      hook.promise.bind(hook),
    ]),
  ) as Fire;

  return {
    registration,
    fire,
    registering: () => registering,
    facadeFor,
    freeze: () => void (isFrozen = true),
  };
}

const failingClosed: Wrap = (tap, plugin, hook) => {
  const rethrow = (cause: unknown): never => {
    if (isAnswerable(cause)) throw cause;
    throw new Error(`plugin "${plugin}" failed in hook "${hook}": ${String(cause)}`, { cause });
  };
  return (...args) => {
    try {
      const result = tap(...args);
      return result instanceof Promise ? result.catch(rethrow) : result;
    } catch (cause) {
      return rethrow(cause);
    }
  };
};

function isolating(log: Logger): Wrap {
  return (tap, plugin, hook) =>
    async (...args) => {
      const startedMs = performance.now();
      let hung: NodeJS.Timeout | undefined;
      const limit = new Promise<never>((_, reject) => {
        hung = setTimeout(() => reject(new Error(`still running after ${HUNG_MS} ms`)), HUNG_MS).unref();
      });
      try {
        await Promise.race([(async () => tap(...args))(), limit]);
      } catch (err) {
        log.error({ err, plugin, hook }, `plugin "${plugin}" failed in hook "${hook}"; the others go on`);
      } finally {
        clearTimeout(hung);
      }
      const ms = Math.round(performance.now() - startedMs);
      if (ms > SLOW_MS) log.warn({ plugin, hook, ms }, `plugin "${plugin}" is slow in hook "${hook}"`);
    };
}
