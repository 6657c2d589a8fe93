import type { RouteScope, RouteSpec } from '@svc/contract';
import type Koa from 'koa';
import { Collection } from '../collector.js';
import type { Reply, RouteCollector, RouteRequest, UpgradeHandler } from './route.js';

export const API = '/api/v1';

export interface HttpRoute {
  readonly spec: RouteSpec;
  readonly handler: (request: RouteRequest) => Reply | Promise<Reply>;
}

export interface FrozenRoutes {
  /** The more specific first: `/runs/compare` before `/runs/{run_id}`, whatever the order of the plugins. */
  readonly routes: readonly HttpRoute[];
  readonly upgrades: readonly {
    readonly path: string;
    readonly scope: RouteScope;
    readonly open: UpgradeHandler;
  }[];
  readonly fallback: Koa.Middleware | undefined;
}

/** What plugins have added: routes, WebSocket endpoints, and who answers outside /api. */
export class Routes implements RouteCollector {
  readonly #routes: Collection<HttpRoute>;
  readonly #upgrades: Collection<FrozenRoutes['upgrades'][number]>;
  readonly #fallback: Collection<Koa.Middleware>;

  constructor(owner: () => string) {
    this.#routes = new Collection('route', owner);
    this.#upgrades = new Collection('WebSocket', owner);
    this.#fallback = new Collection('fallback', owner);
  }

  readonly add: RouteCollector['add'] = (spec, handler) =>
    this.#routes.add(`${spec.method} ${spec.path.replace(/\{[^}]*\}/g, '{}')}`, {
      spec,
      handler,
    } as unknown as HttpRoute);

  readonly upgrade: RouteCollector['upgrade'] = (path, scope, open) =>
    this.#upgrades.add(path, { path: API + path, scope, open });

  readonly fallback: RouteCollector['fallback'] = (middleware) =>
    this.#fallback.add('outside /api', middleware);

  get specs() {
    return this.#routes.entries.map(({ plugin, entry }) => ({ plugin, spec: entry.spec }));
  }

  freeze(): FrozenRoutes {
    const routes = [...this.#routes.freeze().values()];
    routes.sort((a, b) => (toRank(a) < toRank(b) ? -1 : 1));
    return {
      routes,
      upgrades: [...this.#upgrades.freeze().values()],
      fallback: [...this.#fallback.freeze().values()][0],
    };
  }
}

/** By segment: 0 is literal, 1 has a parameter, 2 takes slashes. */
function toRank({ spec }: HttpRoute): string {
  const ranks = spec.path
    .split('/')
    .map((segment) => (segment.includes(':path}') ? 2 : segment.includes('{') ? 1 : 0));
  return ranks.join('');
}

/** From OpenAPI's form to the router's: `/runs/{run_id}/metrics:batch` to `/runs/:run_id/metrics\:batch`. */
export function toRouterPath(path: string): string {
  const escaped = path.replace(/:(?!path\})/g, '\\:');
  return escaped.replace(
    /\{(\w+)(:path)?\}/g,
    (_, name: string, takesSlashes) => (takesSlashes ? '*' : ':') + name,
  );
}
