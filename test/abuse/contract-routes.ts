import { routes, type RouteSpec } from '@svc/contract';

export const ALL_ROUTES: readonly RouteSpec[] = (Object.values(routes) as unknown[]).filter(isRoute);

function isRoute(value: unknown): value is RouteSpec {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value;
}
