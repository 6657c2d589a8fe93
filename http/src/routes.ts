import type { RouteScope, RouteSpec } from '@svc/contract';
import type Koa from 'koa';
import { Collection } from '@svc/hooks';
import type { Admit, Reply, RouteCollector, RouteRequest, UpgradeHandler } from './route.js';

export const API = '/api/v1';

export type HttpRoute = {
  readonly spec: RouteSpec;
  handler(request: RouteRequest): Reply | Promise<Reply>;
  readonly admit?: Admit;
};
type UpgradeRoute = { readonly path: string; readonly scope: RouteScope; readonly open: UpgradeHandler };

export interface FrozenRoutes {
  /** More specific ones first: `/runs/compare` before `/runs/{run_id}`, whatever the order of the plugins. */
  readonly routes: readonly HttpRoute[];
  readonly upgrades: readonly UpgradeRoute[];
  readonly fallback: Koa.Middleware | undefined;
  /** As data, in plugin order. */
  readonly specs: readonly { readonly plugin: string; readonly spec: RouteSpec }[];
}

/** The routes of all plugins, while they are collected. */
export class RouteTable {
  readonly #routes = new Collection<HttpRoute>('route');
  readonly #upgrades = new Collection<UpgradeRoute>('WebSocket');
  readonly #fallback = new Collection<Koa.Middleware>('fallback');

  /** The collector to which that plugin adds its routes. */
  collectorOf(plugin: string): RouteCollector {
    return {
      add: (spec, handler, admit) =>
        this.#routes.add(plugin, `${spec.method} ${toShape(spec.path)}`, { spec, handler, admit } as never),
      upgrade: (path, scope, open) => this.#upgrades.add(plugin, path, { path: API + path, scope, open }),
      fallback: (middleware) => this.#fallback.add(plugin, 'outside /api', middleware),
    };
  }

  freeze(): FrozenRoutes {
    return {
      routes: [...this.#routes.freeze().values()].sort((a, b) => toRank(a).localeCompare(toRank(b))),
      upgrades: [...this.#upgrades.freeze().values()],
      fallback: [...this.#fallback.freeze().values()][0],
      specs: this.#routes.entries.map(({ plugin, entry }) => ({ plugin, spec: entry.spec })),
    };
  }
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
