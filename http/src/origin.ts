import type { IncomingMessage } from 'node:http';
import { fail } from '@svc/validation';
import type { HttpConfig } from './parts.js';

export type OriginPolicy = Omit<HttpConfig, 'port'>;

/** Where names are allowed. */
const REMEDIES = {
  host: 'allowedHosts (SVC_ALLOWED_HOSTS)',
  origin: 'allowedOrigins (SVC_ALLOWED_ORIGINS)',
};

/**
 * Refuses requests from the pages of other sites, also from those that reach this server under their own host name (DNS rebinding).
 * Returns the foreign origin that is allowed to read the answer, or null.
 */
export function admitOrigin(
  { headers }: IncomingMessage,
  policy: OriginPolicy,
  remedies = REMEDIES,
): string | null {
  const { host = '', origin } = headers;
  if (!isHostAllowed(toHostName(host), policy)) {
    fail('forbidden', `the host name "${host}" is not allowed; add it to ${remedies.host}`);
  }
  // Behind a proxy that terminates TLS the scheme differs, so only host and port are compared.
  if (origin === undefined || /^https?:\/\/(.*)$/.exec(origin)?.[1] === host) return null;
  if (policy.allowedOrigins.includes(origin)) return origin;
  return fail('forbidden', `the origin "${origin}" is not allowed; add it to ${remedies.origin}`);
}

function isHostAllowed(name: string, { host, allowedHosts }: OriginPolicy): boolean {
  if (isLoopback(name) || allowedHosts?.includes(name)) return true;
  return allowedHosts === null && !isLoopback(host);
}

function isLoopback(name: string): boolean {
  return /^(([^.]+\.)*localhost|::1|127(\.\d{1,3}){3})$/.test(name);
}

/** `[::1]:8600` becomes `::1`, `Example.org:80` becomes `example.org`. */
function toHostName(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}
