import { routes, type RouteSpec } from '@svc/contract';

/** By path: the order of a module's names is not the same however it is loaded. */
export const ALL_ROUTES: readonly RouteSpec[] = (Object.values(routes) as unknown[])
  .filter(isRoute)
  .sort((a, b) => (toName(a) < toName(b) ? -1 : 1));

function toName({ path, method }: RouteSpec): string {
  return `${path} ${method}`;
}

function isRoute(value: unknown): value is RouteSpec {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value;
}
