import { setMaxListeners } from 'node:events';
import { systemClock, type Clock } from './clock.js';
import { Collection, type Collected } from './collector.js';
import { locateBootError, type ResolvedConfig } from './config/config.js';
import { openDatabase, type Db } from './db/connect.js';
import { ensureDataDir, lockDataDir } from './db/data-dir.js';
import { migrate, type Migration } from './db/migrate.js';
import { BootError, isAnswerable } from './errors.js';
import { createHookTable } from './hook-table.js';
import { createGate } from './http/gate.js';
import { Routes } from './http/routes.js';
import { createHttpServer, toUrl } from './http/server.js';
import { createLogger, type Logger } from './logger.js';
import type { Address, Plugin, PluginContext, Registered } from './plugin.js';
import { checkOptions, orderPlugins } from './plugin-order.js';
import { Services, type ServiceRef } from './services.js';

export interface Kernel {
  /** Boots to the end. A boot that fails closes what it opened; its BootError says the fix. */
  start(): Promise<Address>;
  /** May be called at any time, more than once. */
  close(): Promise<void>;
  /** A service of a plugin, for the program that embeds the kernel. */
  use<T>(ref: ServiceRef<T>): T;
  readonly db: Db;
}

export interface KernelParts {
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Refuse to send what a route's schema does not allow: for tests. */
  readonly checkAnswers?: boolean;
}

type Step = { readonly plugin: string; readonly run: () => void | Promise<void> };
type ListeningStep = { readonly plugin: string; readonly run: (address: Address) => void | Promise<void> };

export function createKernel(config: ResolvedConfig, parts: KernelParts = {}): Kernel {
  const { clock = systemClock, log = createLogger(config.logLevel), checkAnswers = false } = parts;
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  /** What close() undoes, last in first out. */
  const opened: Step[] = [];
  let db: Db | null = null;
  let services = new Services([]);
  let closed: Promise<void> | null = null;

  async function boot(): Promise<Address> {
    const plugins = orderPlugins(config.plugins);
    const options = new Map(plugins.map((plugin) => [plugin, checkOptions(plugin)]));
    const names = plugins.map(({ name }) => name);
    const hooks = createHookTable(names, log);
    services = new Services(names);
    const migrations: Record<string, Migration[]> = {};
    const readySteps: Step[] = [];
    const listeningSteps: ListeningStep[] = [];
    let registered: Registered | null = null;
    const info = {
      dataDir: config.dataDir,
      host: config.host,
      port: config.port,
      url: toUrl(config.host, config.port),
    };

    const contextOf = (plugin: string): PluginContext => ({
      name: plugin,
      log: log.child({ plugin }),
      clock,
      signal: closing.signal,
      config: info,
      get db() {
        return db ?? unavailableYet(plugin, 'ctx.db');
      },
      get registered() {
        return registered ?? unavailableYet(plugin, 'ctx.registered');
      },
      hooks: hooks.facadeFor(plugin),
      fire: hooks.fire,
      provide: (ref, implementation) => services.provide(plugin, ref, implementation),
      use: (ref) => services.use(plugin, ref),
      has: (ref) => services.has(ref),
      migrations: (list) => void (migrations[plugin] ??= []).push(...list),
      ready: (run) => void readySteps.push({ plugin, run }),
      listening: (run) => void listeningSteps.push({ plugin, run }),
      onClose: (run) => void opened.push({ plugin, run }),
    });

    ensureDataDir(config.dataDir);
    const lock = lockDataDir(config.dataDir);
    opened.push({ plugin: 'kernel', run: () => lock.release() });
    const database = await openDatabase(config.database);
    opened.push({ plugin: 'kernel', run: () => database.destroy() });

    for (const plugin of plugins) {
      migrations[plugin.name] = [];
      await inPlugin(plugin.name, 'setup', () =>
        plugin.setup(contextOf(plugin.name), options.get(plugin) as never),
      );
    }
    hooks.freeze();
    const routes = new Routes(hooks.registering);
    registered = collect(hooks.registration, hooks.registering, routes);
    const frozen = routes.freeze();

    await migrate(database, migrations);
    db = database;
    for (const { plugin, run } of readySteps) await inPlugin(plugin, 'ready', run);

    const http = createHttpServer({
      routes: frozen.http,
      upgrades: frozen.upgrades,
      fallback: frozen.fallback,
      gate: createGate(hooks.fire.authenticate),
      policy: config,
      config,
      log,
      clock,
      closing: closing.signal,
      checkAnswers,
    });
    const address = await http.listen();
    closeHttp = () => http.close(config.shutdownGraceMs);
    Object.assign(info, address);
    for (const { plugin, run } of listeningSteps) await inPlugin(plugin, 'listening', () => run(address));
    log.info({ url: address.url }, 'listening');
    return address;
  }

  let closeHttp: () => Promise<void> = () => Promise.resolve();

  async function closeAll(): Promise<void> {
    closing.abort();
    await closeHttp();
    for (const { plugin, run } of opened.reverse()) await dispose(plugin, run);
    db = null;
  }

  /** A plugin that does not close in time, or fails to, is named and left behind. */
  async function dispose(plugin: string, run: Step['run']): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      const why = `not closed after ${config.shutdownGraceMs} ms`;
      timer = setTimeout(() => reject(new Error(why)), config.shutdownGraceMs);
    });
    try {
      await Promise.race([(async () => run())(), limit]);
    } catch (err) {
      log.error({ err, plugin }, `plugin "${plugin}" failed to close`);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async start() {
      try {
        return await boot();
      } catch (error) {
        await this.close();
        throw locateBootError(error, config.source);
      }
    },
    close: () => (closed ??= closeAll()),
    use: (ref) => services.use('kernel', ref),
    get db() {
      return db ?? unavailableYet('kernel', 'db');
    },
  };
}

function collect(
  hooks: ReturnType<typeof createHookTable>['registration'],
  owner: () => string,
  routes: Routes,
): Registered {
  hooks.routes.call(routes);
  const gather = <T extends { name: string }>(
    kind: string,
    call: (collector: { add(entry: T): void }) => void,
  ): Collected<T> => {
    const collection = new Collection<T>(kind, owner);
    call({ add: (entry) => collection.add(entry.name, entry) });
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

async function inPlugin(plugin: string, phase: string, run: () => void | Promise<void>): Promise<void> {
  try {
    await run();
  } catch (cause) {
    if (isAnswerable(cause)) throw cause;
    throw new BootError(`plugin "${plugin}" failed in ${phase}: ${String(cause)}`, plugin, { cause });
  }
}

function unavailableYet(plugin: string, what: string): never {
  throw new BootError(`plugin "${plugin}": ${what} is there from ready() on, and gone after close`, plugin);
}
