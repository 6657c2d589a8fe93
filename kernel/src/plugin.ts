import {
  toPluginFactory,
  type Clock,
  type Collected,
  type Plugin as AnyPlugin,
  type PluginDefinition,
  type PluginFactory as AnyFactory,
  type ServiceRef,
} from '@svc/hooks';
import type { Address, FrozenRoutes } from '@svc/http';
import type { TObject } from 'typebox';
import type { Db } from './db/connect.js';
import type { Migration } from './db/migrate.js';
import type { Fire, PublicHooks } from './hooks.js';
import type { Logger } from './logger.js';
import type { Detector, Notifier, RunnerServer, SemanticRule } from './registrations.js';

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
  /** From plugins in `requires` or `uses`. Throws naming the plugin to add. */
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

/** A plugin with the options that svc.config.ts gave it; the kernel checks them at boot. */
export type Plugin = AnyPlugin<PluginContext>;
export type PluginFactory<Options extends TObject = TObject> = AnyFactory<PluginContext, Options>;

/** `export const jobs = definePlugin({ name: 'jobs', setup(ctx) {...} })`, then `jobs()` in svc.config.ts. */
export function definePlugin<Options extends TObject>(
  definition: PluginDefinition<PluginContext, Options>,
): PluginFactory<Options> {
  return toPluginFactory(definition);
}
