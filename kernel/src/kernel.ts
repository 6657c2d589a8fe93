import {
  Collection,
  PluginGraph,
  Services,
  bootStep,
  checkOptions,
  failBoot,
  systemClock,
  withLimit,
  type Clock,
  type ServiceRef,
} from '@svc/hooks';
import {
  DEFAULT_LIMITS,
  RouteTable,
  createGate,
  createHttpServer,
  toUrl,
  type Address,
  type FrozenRoutes,
  type HttpLimits,
} from '@svc/http';
import { setMaxListeners } from 'node:events';
import type { ResolvedConfig } from './config/config.js';
import { locateBootError } from './config/locate.js';
import { openDatabase, type Db } from './db/connect.js';
import { ensureDataDir, lockDataDir } from './db/data-dir.js';
import { migrate, type Migration } from './db/migrate.js';
import { explainOutage } from './db/outage.js';
import { createGuardedHooks, type GuardedHooks } from './hook-guard.js';
import { createLogger, type Logger } from './logger.js';
import type { PluginContext, Registered } from './plugin.js';

export interface Kernel {
  /** Boots to the end. A boot that fails closes what it opened; its BootError says the fix. */
  start(): Promise<Address>;
  /** May be called at any time, more than once. */
  close(): Promise<void>;
  /** A service of a plugin, for the program that embeds the kernel. */
  use<T>(ref: ServiceRef<T>): T;
  readonly db: Db;
}

type Step<Argument = void> = { readonly plugin: string; run(argument: Argument): unknown };

export interface KernelParts {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly limits?: Partial<HttpLimits>;
}

export function createKernel(config: ResolvedConfig, parts: KernelParts = {}): Kernel {
  const { clock = systemClock, log = createLogger(config.logLevel) } = parts;
  const limits = { ...DEFAULT_LIMITS, ...parts.limits };
  const { dataDir, host, port, shutdownGraceMs } = config;
  const info = { dataDir, host, port, url: toUrl(host, port) };
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const migrations: Record<string, Migration[]> = {};
  const steps = { ready: [] as Step[], listening: [] as Step<Address>[], close: [] as Step[] };
  let services = new Services(new PluginGraph([]));
  let db: Db | undefined;
  let registered: Registered | undefined;
  let closeHttp = () => Promise.resolve();
  let started: Promise<Address> | undefined;
  let closed: Promise<void> | undefined;

  async function boot(): Promise<Address> {
    const graph = new PluginGraph(config.plugins);
    const { plugins } = graph;
    const options = await Promise.all(plugins.map(checkOptions));
    const hooks = createGuardedHooks(graph.names, log);
    services = new Services(graph);

    const database = await openStorage();
    for (const [index, { name, setup }] of plugins.entries()) {
      migrations[name] = [];
      await run(name, 'setup', () => setup(contextOf(name, hooks), options[index] as never));
    }
    hooks.freeze();
    const table = new RouteTable();
    hooks.registration.routes.call({
      add: (...route) => table.collectorOf(hooks.registering()).add(...route),
      upgrade: (...route) => table.collectorOf(hooks.registering()).upgrade(...route),
      fallback: (middleware) => table.collectorOf(hooks.registering()).fallback(middleware),
    });
    const routes = table.freeze();
    registered = collect(hooks, routes);

    await migrate(database, migrations);
    db = database;
    for (const step of steps.ready) await run(step.plugin, 'ready', step.run);

    const gate = createGate(hooks.fire.authenticate);
    const around = { gate, config, log, clock, limits, explainOutage, closing: closing.signal };
    const http = createHttpServer({ ...routes, ...around });
    const address = await http.listen();
    closeHttp = () => http.close(shutdownGraceMs);
    Object.assign(info, address);
    for (const step of steps.listening) await run(step.plugin, 'listening', () => step.run(address));
    log.info({ url: address.url }, 'listening');
    return address;
  }

  async function openStorage(): Promise<Db> {
    ensureDataDir(dataDir);
    const lock = lockDataDir(dataDir);
    steps.close.push({ plugin: 'kernel', run: () => lock.release() });
    const database = await openDatabase(config.database);
    steps.close.push({ plugin: 'kernel', run: () => database.destroy() });
    return database;
  }

  function contextOf(plugin: string, hooks: GuardedHooks): PluginContext {
    return {
      name: plugin,
      log: log.child({ plugin }),
      clock,
      signal: closing.signal,
      config: info,
      hooks: hooks.facadeFor(plugin),
      fire: hooks.fire,
      get db() {
        return db ?? notNow(plugin, 'ctx.db');
      },
      get registered() {
        return registered ?? notNow(plugin, 'ctx.registered');
      },
      provide: (ref, implementation) => services.provide(plugin, ref, implementation),
      use: (ref) => services.use('kernel', ref),
      has: (ref) => services.has('kernel', ref),
      migrations: (list) => void migrations[plugin]!.push(...list),
      ready: (run) => void steps.ready.push({ plugin, run }),
      listening: (run) => void steps.listening.push({ plugin, run }),
      onClose: (run) => void steps.close.push({ plugin, run }),
    };
  }

  async function run(plugin: string, phase: string, work: () => unknown): Promise<void> {
    await bootStep(plugin, phase, work);
    if (closing.signal.aborted) failBoot('the server was closed while it was starting');
  }

  /** A plugin that fails to close, or does not in time, is named and left behind. */
  async function closeAll(): Promise<void> {
    closing.abort();
    await closeHttp();
    for (let step = steps.close.pop(); step; step = steps.close.pop()) {
      const { plugin, run } = step;
      const done = withLimit(shutdownGraceMs, async () => run());
      await done.catch((err: unknown) => log.error({ err, plugin }, `plugin "${plugin}" failed to close`));
    }
    db = undefined;
  }

  async function closeFailed(error: unknown): Promise<never> {
    await closeAll();
    throw locateBootError(error, config.source);
  }

  return {
    start: () => (started ??= boot().catch(closeFailed)),
    close() {
      closing.abort();
      return (closed ??= Promise.allSettled([started]).then(closeAll));
    },
    use: (ref) => services.use('kernel', ref),
    get db() {
      return db ?? notNow('kernel', 'db');
    },
  };
}

/** Fires the registration hooks, but for that of the routes. */
function collect({ registration: hooks, registering }: GuardedHooks, routes: FrozenRoutes): Registered {
  const gather = <T extends { name: string }>(kind: string, fire: (to: { add(entry: T): void }) => void) => {
    const collection = new Collection<T>(kind);
    fire({ add: (entry) => collection.add(registering(), entry.name, entry) });
    return collection.freeze();
  };
  return {
    routes: routes.specs,
    runners: gather('runner', (runners) => hooks.runners.call(runners)),
    detectors: gather('detector', (detectors) => hooks.detectors.call(detectors)),
    notifiers: gather('notifier', (notifiers) => hooks.notifiers.call(notifiers)),
    semanticRules: gather('semantic rule', (rules) => hooks.semanticRules.call(rules)),
  };
}

function notNow(plugin: string, what: string): never {
  return failBoot(`plugin "${plugin}": ${what} is there from ready() on, until the server is closed`, plugin);
}
