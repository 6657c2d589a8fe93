import { Type, type Static, type TObject } from 'typebox';
import type { Clock } from './clock.js';
import type { Collected } from './collector.js';
import type { Db } from './db/connect.js';
import type { Migration } from './db/migrate.js';
import type { FrozenRoutes } from './http/routes.js';
import type { Fire, PublicHooks } from './hooks.js';
import type { Logger } from './logger.js';
import type { Detector, Notifier, RunnerServer, SemanticRule } from './registrations.js';
import type { ServiceRef } from './services.js';

export interface PluginContext {
  readonly name: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborts when the server begins to close. */
  readonly signal: AbortSignal;
  readonly config: ServerInfo;
  /** Usable from `ready` on. */
  readonly db: Db;
  readonly hooks: PublicHooks;
  readonly fire: Fire;
  /** Everything the registration hooks collected. Usable from `ready` on. */
  readonly registered: Registered;
  /** During setup alone. */
  provide<T>(ref: ServiceRef<T>, implementation: T): void;
  /** During setup only from plugins in `requires` or `after`; later from any. Throws naming the plugin to add. */
  use<T>(ref: ServiceRef<T>): T;
  has<T>(ref: ServiceRef<T>): boolean;
  migrations(list: readonly Migration[]): void;
  /** After the migrations and before listening, in plugin order. A throw stops the boot. */
  ready(run: () => void | Promise<void>): void;
  /** Once requests are answered. */
  listening(run: (address: Address) => void | Promise<void>): void;
  /** Last in, first out, before the database closes. */
  onClose(dispose: () => void | Promise<void>): void;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  /** `http://host:port`, as a client on this host can use it. */
  readonly url: string;
}

/** The address is final from `listening` on: the port may be chosen by the system. */
export interface ServerInfo extends Address {
  readonly dataDir: string;
}

export interface Registered {
  /** Every route as data, in plugin order, with the plugin that added it. */
  readonly routes: FrozenRoutes['specs'];
  readonly runners: Collected<RunnerServer>;
  readonly detectors: Collected<Detector>;
  readonly notifiers: Collected<Notifier>;
  readonly semanticRules: Collected<SemanticRule>;
}

export interface PluginDefinition<Options extends TObject = TObject> {
  /** Folder name = plugin name, kebab-case. */
  readonly name: string;
  /** Must be in the configuration, and is set up before. */
  readonly requires?: readonly string[];
  /** Set up before if it is there. */
  readonly after?: readonly string[];
  readonly options?: Options;
  setup(ctx: PluginContext, options: Static<Options>): void | Promise<void>;
}

/** A plugin with the options that svc.config.ts gave it; the kernel checks them at boot. */
export interface Plugin {
  readonly name: string;
  readonly requires: readonly string[];
  readonly after: readonly string[];
  readonly optionsSchema: TObject;
  readonly options: Readonly<Record<string, unknown>>;
  setup(ctx: PluginContext, options: never): void | Promise<void>;
}

export type PluginFactory<Options extends TObject = TObject> = (options?: Partial<Static<Options>>) => Plugin;

const NO_OPTIONS = Type.Object({}, { additionalProperties: false });

/** `export const jobs = definePlugin({ name: 'jobs', setup(ctx) {...} })`, then `jobs()` in svc.config.ts. */
export function definePlugin<Options extends TObject>(
  definition: PluginDefinition<Options>,
): PluginFactory<Options> {
  const { name, requires = [], after = [], options: optionsSchema = NO_OPTIONS, setup } = definition;
  const plugin = { name, requires, after, optionsSchema, setup };
  const factory: PluginFactory<Options> = (options = {}) => ({ ...plugin, options });
  // A configuration that lists the factory itself is told the line by this name.
  return Object.defineProperty(factory, 'name', { value: name });
}
