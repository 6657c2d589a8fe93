import {
  toPluginFactory,
  type AnyRef,
  type ArgsOf,
  type Clock,
  type FiredOf,
  type HookRef,
  type Plugin as AnyPlugin,
  type PluginDefinition,
  type PluginFactory as AnyFactory,
  type ServiceRef,
  type TapPlace,
} from '@svc/hooks';
import type { Address } from '@svc/http';
import type { TObject } from 'typebox';
import type { Db } from './db/connect.js';
import type { Migration } from './db/migrate.js';
import type { Transact } from './db/transaction.js';
import type { Logger } from './logger.js';
import type { TableDeclaration } from './owned-tables.js';
import type { Registered, RegistrationTaps } from './registrations.js';

export interface PluginContext {
  readonly name: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborts when the server begins to close. */
  readonly signal: AbortSignal;
  readonly config: ServerInfo;
  /** Usable from `ready` on. */
  readonly db: Db;
  /** Runs `work` in a transaction, and after the commit what it has registered with `tx.afterCommit`. Usable from `ready` on. */
  readonly transaction: Transact;
  /** The registrations, to be tapped during setup. */
  readonly hooks: RegistrationTaps;
  /** Everything that the registrations have collected, and every table. Usable from `ready` on. */
  readonly registered: Registered;
  /** During setup: declares a hook of this plugin, so that others can tap it. */
  declare(ref: AnyRef): void;
  /** During setup, on a hook of a plugin in `requires` or `uses`. */
  tap<Args extends readonly unknown[], Returned>(
    ref: HookRef<Args, Returned, unknown>,
    run: NoInfer<(...args: Args) => Returned>,
    place?: TapPlace,
  ): void;
  /** Calls the taps of a hook of this plugin. It never rejects for an observation. */
  fire<Ref extends AnyRef>(ref: Ref, ...args: ArgsOf<Ref>): Promise<FiredOf<Ref>>;
  /** Only during setup. */
  provide<T>(ref: ServiceRef<T>, implementation: T): void;
  /** The service of a plugin in `requires`, or of one in `uses` that is configured. */
  use<T>(ref: ServiceRef<T>): T;
  has<T>(ref: ServiceRef<T>): boolean;
  migrations(list: readonly Migration[]): void;
  /** During setup: every table that its migrations make. */
  owns(...tables: readonly TableDeclaration[]): void;
  /** After the migrations and before listening, in plugin order. A throw stops the boot. */
  ready(run: () => void | Promise<void>): void;
  /** Called once the server answers requests. */
  listening(run: (address: Address) => void | Promise<void>): void;
  /** Last in, first out, before the database closes. */
  onClose(dispose: () => void | Promise<void>): void;
}

/** The address is final from `listening` on: the port may be chosen by the system. */
export interface ServerInfo extends Address {
  readonly dataDir: string;
}

/** A plugin with the options that svc.config.ts gave it; the kernel checks them at boot. */
export type Plugin = AnyPlugin<PluginContext>;
export type PluginFactory<Options extends TObject = TObject> = AnyFactory<PluginContext, Options>;

/** `export const hello = definePlugin({ name: 'hello', setup(ctx) {...} })`, then `hello()` in svc.config.ts. */
export function definePlugin<Options extends TObject>(
  definition: PluginDefinition<PluginContext, Options>,
): PluginFactory<Options> {
  return toPluginFactory(definition);
}
