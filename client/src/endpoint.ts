import type { RouteSpec } from '@svc/contract';

/** The part of a route that a request needs at run time; `R` carries its types. Every route of the contract is one. */
export interface Endpoint<R extends RouteSpec> {
  readonly method: R['method'];
  readonly path: R['path'];
  /** The media type of a body that is no JSON. */
  readonly upload?: string;
  /** For the compiler alone. */
  readonly route?: R;
}

/**
 * A route without its schemas, for a program that does not load them: `endpoint<typeof routes.getJob>('GET', '/jobs/{job_id}')`.
 * The compiler refuses a method or path that is not the route's.
 */
export function endpoint<R extends RouteSpec>(method: R['method'], path: R['path']): Endpoint<R> {
  return { method, path };
}

/** Fills `{job_id}` in; a `{name:path}` keeps its slashes. */
export function toPath(template: string, params: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)(:path)?\}/g, (_match, name: string, isPath?: string) => {
    const value = params[name] ?? '';
    return isPath ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
  });
}

/** `?status=FAILED`: what is undefined or null is left out. */
export function toQueryString(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
