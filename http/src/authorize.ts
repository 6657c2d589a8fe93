import type { RouteScope } from '@svc/contract';
import type { Caller } from './caller.js';
import { HttpError, fail } from '@svc/validation';

/** Returns the caller of a request, or null for a route that needs no token. Throws 401 and 403. */
export type Authorize = (authorization: string | undefined, scope: RouteScope) => Promise<Caller | null>;

/** `authenticate` returns the caller of a bearer token, or throws `unauthorized` with what is wrong with it. */
export function createAuthorization(
  authenticate: (bearer: string) => Promise<Caller | undefined>,
): Authorize {
  return async (authorization = '', scope) => {
    if (scope === 'none') return null;
    const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (bearer === undefined) throw unauthorized('send the header "Authorization: Bearer <token>"');
    const caller = await authenticate(bearer).catch((error: unknown) => {
      throw error instanceof HttpError && error.code === 'unauthorized' ? unauthorized(error.message) : error;
    });
    if (!caller) throw unauthorized('the token is unknown to this server');
    if (permits(caller, scope)) return caller;
    const held = caller.ingest === null ? caller.scope : 'run ingest';
    return fail('forbidden', `this needs a token of ${toNeed(scope)} scope; "${caller.name}" has ${held}`);
  };
}

/** Beside write, where it is not the scope of that name. */
const SCOPES_FOR: Partial<Record<RouteScope, readonly RouteScope[]>> = {
  ingest: ['sdk'],
  'read-or-agent': ['read', 'agent'],
};

/** A write token does everything. A run ingest token is good only where a route asks for one. */
function permits({ scope, ingest }: Caller, needed: RouteScope): boolean {
  if (needed === 'any') return true;
  if (ingest !== null) return needed === 'ingest';
  return scope === 'write' || (SCOPES_FOR[needed] ?? [needed]).includes(scope);
}

function toNeed(scope: RouteScope): string {
  if (scope === 'write') return scope;
  return `${(SCOPES_FOR[scope] ?? [scope]).join(', ')} or write`;
}

const unauthorized = (message: string): HttpError =>
  new HttpError('unauthorized', message, {}, { 'WWW-Authenticate': 'Bearer' });
