import type { RouteScope } from '@svc/contract';
import type { Caller } from '../caller.js';
import { HttpError, fail } from '../errors.js';
import type { Fire } from '../hooks.js';

/** The caller of a request, or null where no token is asked for. Throws 401 and 403. */
export type Gate = (authorization: string | undefined, scope: RouteScope) => Promise<Caller | null>;

export function createGate(authenticate: Fire['authenticate']): Gate {
  return async (authorization, scope) => {
    if (scope === 'none') return null;
    const [, bearer] = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '') ?? [];
    if (bearer === undefined) throw unauthorized('send the header "Authorization: Bearer <token>"');
    const caller = await authenticate(bearer);
    if (!caller) throw unauthorized('the token is unknown, expired or revoked');
    if (permits(caller, scope)) return caller;
    return fail(
      'forbidden',
      `this needs a token of ${toNeed(scope)} scope; "${caller.name}" has ${toHeld(caller)}`,
    );
  };
}

/** A write token does everything. A run ingest token does what its own scope says only where a route asks for one. */
function permits({ scope, ingest }: Caller, needed: RouteScope): boolean {
  if (needed === 'any' || needed === 'none') return true;
  if (ingest !== null) return needed === 'ingest';
  if (scope === 'write') return true;
  return scope === (needed === 'ingest' ? 'sdk' : needed);
}

function toNeed(scope: RouteScope): string {
  if (scope === 'write') return 'write';
  return `${scope === 'ingest' ? 'sdk' : scope} or write`;
}

function toHeld({ scope, ingest }: Caller): string {
  return ingest === null ? scope : 'run ingest';
}

function unauthorized(message: string): HttpError {
  return new HttpError('unauthorized', message, {}, { 'WWW-Authenticate': 'Bearer' });
}
