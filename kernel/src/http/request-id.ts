import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The client's own `X-Request-Id` when it is a sane one, else a new one. */
export function toRequestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}
