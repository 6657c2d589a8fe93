import type { RouteScope, RouteSpec } from '@svc/contract';
import type Koa from 'koa';
import { Collection } from '../collector.js';
import type { Admit, Reply, RouteCollector, RouteRequest, UpgradeHandler } from './route.js';

export const API = '/api/v1';

export type HttpRoute = {
  readonly spec: RouteSpec;
  handler(request: RouteRequest): Reply | Promise<Reply>;
  readonly admit?: Admit;
};
type UpgradeRoute = { readonly path: string; readonly scope: RouteScope; readonly open: UpgradeHandler };

export interface FrozenRoutes {
  /** The more specific first: `/runs/compare` before `/runs/{run_id}`, whatever the order of the plugins. */
  readonly routes: readonly HttpRoute[];
  readonly upgrades: readonly UpgradeRoute[];
  readonly fallback: Koa.Middleware | undefined;
  /** As data, in plugin order. */
  readonly specs: readonly { readonly plugin: string; readonly spec: RouteSpec }[];
}

/** Hands the collector to `fire`, and returns what the plugins have added. */
export function collectRoutes(fire: (collector: RouteCollector) => void, owner: () => string): FrozenRoutes {
  const routes = new Collection<HttpRoute>('route');
  const upgrades = new Collection<UpgradeRoute>('WebSocket');
  const fallback = new Collection<Koa.Middleware>('fallback');
  fire({
    add: (spec, handler, admit) =>
      routes.add(owner(), `${spec.method} ${toShape(spec.path)}`, { spec, handler, admit } as never),
    upgrade: (path, scope, open) => upgrades.add(owner(), path, { path: API + path, scope, open }),
    fallback: (middleware) => fallback.add(owner(), 'outside /api', middleware),
  });
  return {
    routes: [...routes.freeze().values()].sort((a, b) => toRank(a).localeCompare(toRank(b))),
    upgrades: [...upgrades.freeze().values()],
    fallback: [...fallback.freeze().values()][0],
    specs: routes.entries.map(({ plugin, entry }) => ({ plugin, spec: entry.spec })),
  };
}

export const toShape = (path: string): string => path.replace(/\{[^}]*\}/g, '{}');

/** By segment: a literal comes before a parameter, and that before one that takes slashes. */
function toRank({ spec }: HttpRoute): string {
  const segments = spec.path.split('/');
  return segments.map((part) => (part.includes(':path}') ? 2 : part.includes('{') ? 1 : 0)).join('');
}

/** From OpenAPI's form to the router's: `/runs/{run_id}/metrics:batch` to `/runs/:run_id/metrics\\:batch`. */
export function toRouterPath(path: string): string {
  const escaped = path.replace(/:(?!path\})/g, '\\:');
  return escaped.replace(/\{(\w+):path\}/g, '*$1').replace(/\{(\w+)\}/g, ':$1');
}
