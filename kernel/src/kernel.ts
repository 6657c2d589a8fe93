import {
  HookTable,
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
  createAuthorization,
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
import { Transactions } from './db/transaction.js';
import { authenticate } from './hooks.js';
import { createLogger, type Logger } from './logger.js';
import { OwnedTables } from './owned-tables.js';
import type { PluginContext } from './plugin.js';
import { collectAll, createRegistrations, tapsOf, type Registered } from './registrations.js';

export interface Kernel {
  /** Boots completely. If the boot fails, everything is closed again, and the BootError says what to change. */
  start(): Promise<Address>;
  /** Boots up to the migrations: services and the database can be used, but no plugin gets `ready`, and nothing listens. */
  open(): Promise<void>;
  /** May be called at any time, more than once. */
  close(): Promise<void>;
  /** A service of a plugin, for the program that embeds the kernel. */
  use<T>(ref: ServiceRef<T>): T;
  readonly db: Db;
}

/**
 * Runs `work` with the plugins set up on the data directory and its schema up to date; the lock keeps a server from starting meanwhile. No
 * plugin gets `ready`: agents cannot reach this process, so what only a server may decide is not decided here.
 */
export async function withOfflineKernel<T>(
  config: ResolvedConfig,
  work: (kernel: Kernel) => Promise<T>,
  parts: Pick<KernelParts, 'clock'> = {},
): Promise<T> {
  const kernel = createKernel(config, { ...parts, log: createLogger('silent') });
  try {
    await kernel.open();
    return await work(kernel);
  } finally {
    await kernel.close();
  }
}

type Step<Argument = void> = { readonly plugin: string; run(argument: Argument): unknown };

export interface KernelParts {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly limits?: Partial<HttpLimits>;
  /** How long one `setup` or `ready` may take. */
  readonly bootStepMs?: number;
}

export function createKernel(config: ResolvedConfig, parts: KernelParts = {}): Kernel {
  const { clock = systemClock, log = createLogger(config.logLevel), bootStepMs } = parts;
  const limits = { ...DEFAULT_LIMITS, ...parts.limits };
  const { dataDir, host, port, shutdownGraceMs } = config;
  const info = { dataDir, host, port, url: toUrl(host, port) };
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const migrations: Record<string, Migration[]> = {};
  const owned = new OwnedTables();
  const steps = { ready: [] as Step[], listening: [] as Step<Address>[], close: [] as Step[] };
  const transactions = new Transactions(log);
  let services = new Services(new PluginGraph([]));
  let db: Db | undefined;
  let registered: Registered | undefined;
  let closeHttp = () => Promise.resolve();
  let started: Promise<unknown> | undefined;
  let closed: Promise<void> | undefined;

  async function open(): Promise<{ hooks: HookTable; table: FrozenRoutes }> {
    const graph = new PluginGraph(config.plugins);
    const options = await Promise.all(graph.plugins.map(checkOptions));
    const hooks = new HookTable(graph, log);
    const registrations = createRegistrations();
    services = new Services(graph);
    hooks.declare('kernel', authenticate);

    const database = await openStorage();
    for (const [index, { name, setup }] of graph.plugins.entries()) {
      migrations[name] = [];
      const ctx = contextOf(name, hooks, tapsOf(registrations, name));
      await runStep(name, 'setup', () => setup(ctx, options[index] as never));
    }
    hooks.freeze();
    const { table, ...collected } = collectAll(registrations);
    await migrate(database, migrations);
    registered = { ...collected.registered, tables: await owned.freeze(database) };
    db = database;
    return { hooks, table };
  }

  async function boot(): Promise<Address> {
    const { hooks, table } = await open();
    for (const step of steps.ready) await runStep(step.plugin, 'ready', step.run);
    const authorize = createAuthorization((bearer) => hooks.fire('kernel', authenticate, bearer));
    const around = { authorize, config, log, clock, limits, explainOutage, closing: closing.signal };
    const http = createHttpServer({ ...table, ...around });
    const address = await http.listen();
    closeHttp = () => http.close(shutdownGraceMs);
    Object.assign(info, address);
    for (const step of steps.listening) await runStep(step.plugin, 'listening', () => step.run(address));
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

  function contextOf(plugin: string, hooks: HookTable, taps: PluginContext['hooks']): PluginContext {
    const theDb = () => db ?? notNow(plugin, 'ctx.db');
    return {
      name: plugin,
      log: log.child({ plugin }),
      clock,
      signal: closing.signal,
      config: info,
      hooks: taps,
      get db() {
        return theDb();
      },
      get registered() {
        return registered ?? notNow(plugin, 'ctx.registered');
      },
      transaction: async (work) => transactions.run(theDb(), work),
      declare: (ref) => hooks.declare(plugin, ref),
      tap: (ref, run, place) => hooks.tap(plugin, ref, run, place),
      fire: (ref, ...args) => hooks.fire(plugin, ref, ...args),
      provide: (ref, implementation) => services.provide(plugin, ref, implementation),
      use: (ref) => services.use(plugin, ref),
      has: (ref) => services.has(plugin, ref),
      migrations: (list) => void migrations[plugin]!.push(...list),
      owns: (...tables) => tables.forEach((table) => owned.add(plugin, table)),
      ready: (run) => void steps.ready.push({ plugin, run }),
      listening: (run) => void steps.listening.push({ plugin, run }),
      onClose: (run) => void steps.close.push({ plugin, run }),
    };
  }

  async function runStep(plugin: string, phase: string, work: () => unknown): Promise<void> {
    await bootStep(plugin, phase, work, bootStepMs);
    if (closing.signal.aborted) failBoot('the server was closed while it was starting');
  }

  /** A plugin that fails to close, or is too slow, is logged and skipped. */
  async function closeAll(): Promise<void> {
    closing.abort();
    await closeHttp();
    for (let step = steps.close.pop(); step; step = steps.close.pop()) {
      const { plugin, run } = step;
      const done = withLimit(shutdownGraceMs, async () => {
        await run();
        await transactions.settled();
      });
      await done.catch((err: unknown) => log.error({ err, plugin }, `plugin "${plugin}" failed to close`));
    }
    db = undefined;
  }

  async function closeFailed(error: unknown): Promise<never> {
    await closeAll();
    throw locateBootError(error, config.source);
  }

  return {
    start: () => (started ??= boot().catch(closeFailed)) as Promise<Address>,
    open: async () => void (await (started ??= open().catch(closeFailed))),
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

function notNow(plugin: string, what: string): never {
  return failBoot(`plugin "${plugin}": ${what} is there from ready() on, until the server is closed`, plugin);
}
