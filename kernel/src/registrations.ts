import type { Detector, Notifier, RunnerServer, SemanticRule } from '@svc/contract';
import { Registration, collectNamed, type Collected, type Collector } from '@svc/hooks';
import { RouteTable, type FrozenRoutes, type RouteCollector } from '@svc/http';
import type { OwnedTable } from './owned-tables.js';

/** The registrations to which plugins add routes, runners, detectors, notifiers and semantic rules. */
export const createRegistrations = () => ({
  routes: new Registration<RouteCollector>('routes'),
  runners: new Registration<Collector<RunnerServer>>('runners'),
  detectors: new Registration<Collector<Detector>>('detectors'),
  notifiers: new Registration<Collector<Notifier>>('notifiers'),
  semanticRules: new Registration<Collector<SemanticRule>>('semanticRules'),
});

export type Registrations = ReturnType<typeof createRegistrations>;

/** How plugins use them in setup: `ctx.hooks.routes.tap(ctx.name, (routes) => routes.add(...))`. */
export type RegistrationTaps = { readonly [K in keyof Registrations]: Pick<Registrations[K], 'tap'> };

export interface Registered {
  /** Every route as data, in plugin order, with the plugin that added it. */
  readonly routes: FrozenRoutes['specs'];
  readonly runners: Collected<RunnerServer>;
  readonly detectors: Collected<Detector>;
  readonly notifiers: Collected<Notifier>;
  readonly semanticRules: Collected<SemanticRule>;
  /** Every table that a plugin owns, in plugin order. */
  readonly tables: readonly OwnedTable[];
}

/** Calls the taps, once. */
export function collectAll(hooks: Registrations) {
  const routes = new RouteTable();
  hooks.routes.collect((plugin) => routes.collectorOf(plugin));
  const table = routes.freeze();
  const registered = {
    routes: table.specs,
    runners: collectNamed(hooks.runners, 'runner'),
    detectors: collectNamed(hooks.detectors, 'detector'),
    notifiers: collectNamed(hooks.notifiers, 'notifier'),
    semanticRules: collectNamed(hooks.semanticRules, 'semantic rule'),
  };
  return { table, registered };
}

/** The registrations for one plugin: each tap gets that plugin's name, whatever name is given. */
export function tapsOf(hooks: Registrations, plugin: string): RegistrationTaps {
  const taps = Object.entries(hooks).map(([name, hook]) => {
    const tap = (_name: string, run: (to: never) => void) => hook.tap(plugin, run as never);
    return [name, Object.freeze({ tap })];
  });
  return Object.freeze(Object.fromEntries(taps)) as RegistrationTaps;
}
