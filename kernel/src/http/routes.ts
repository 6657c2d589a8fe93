import type { RouteSpec } from '@svc/contract';
import type Koa from 'koa';
import { Collection } from '../collector.js';
import type { RouteCollector, RouteHandler } from './route.js';
import type { UpgradeRoute } from './upgrade.js';

export const API = '/api/v1';

export interface HttpRoute {
  readonly spec: RouteSpec;
  readonly handler: RouteHandler<RouteSpec>;
}

/** What plugins have added: routes, WebSocket endpoints, and who answers outside /api. */
export class Routes implements RouteCollector {
  readonly #http: Collection<HttpRoute>;
  readonly #upgrades: Collection<UpgradeRoute>;
  readonly #fallback: Collection<Koa.Middleware>;

  constructor(owner: () => string) {
    this.#http = new Collection('route', owner);
    this.#upgrades = new Collection('WebSocket', owner);
    this.#fallback = new Collection('fallback', owner);
  }

  readonly add: RouteCollector['add'] = (spec, handler) => {
    this.#http.add(`${spec.method} ${spec.path.replace(/\{[^}]*\}/g, '{}')}`, {
      spec,
      handler,
    } as unknown as HttpRoute);
  };

  readonly upgrade: RouteCollector['upgrade'] = (path, scope, open) => {
    this.#upgrades.add(path, { path: API + path, scope, open });
  };

  readonly fallback: RouteCollector['fallback'] = (middleware) => this.#fallback.add('', middleware);

  get specs() {
    return this.#http.entries.map(({ plugin, entry }) => ({ plugin, spec: entry.spec }));
  }

  freeze() {
    return {
      http: [...this.#http.freeze().values()].sort(bySpecificity),
      upgrades: [...this.#upgrades.freeze().values()],
      fallback: [...this.#fallback.freeze().values()][0] ?? null,
    };
  }
}

/** `/runs/compare` before `/runs/{run_id}` before `/runs/{rest:path}`, whatever the order of the plugins. */
function bySpecificity(a: HttpRoute, b: HttpRoute): number {
  const [left, right] = [rank(a), rank(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function rank({ spec }: HttpRoute): string {
  return spec.path
    .split('/')
    .map((segment) => (/:path\}/.test(segment) ? '2' : segment.includes('{') ? '1' : '0'))
    .join('');
}

/** From OpenAPI's form to the router's: `/runs/{run_id}/metrics:batch` to `/runs/:run_id/metrics\:batch`. */
export function toRouterPath(path: string): string {
  return path
    .split(/(\{[^}]*\})/)
    .map((part) => {
      const [, name, isPath] = /^\{(\w+)(:path)?\}$/.exec(part) ?? [];
      return name ? `${isPath ? '*' : ':'}${name}` : part.replace(/[:*?!+()[\]{}\\]/g, '\\$&');
    })
    .join('');
}
