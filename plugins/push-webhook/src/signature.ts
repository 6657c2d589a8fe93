import { BootError } from '@svc/kernel';
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

/** A secret in the form of Standard Webhooks: 24 to 64 bytes in base64, with or without `whsec_`. Throws a BootError without the secret. */
export function parseSigningKey(plugin: string, what: string, secret: string): Buffer {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(text, 'base64');
  const isWhole = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (isWhole && key.length >= LEAST_BYTES && key.length <= MOST_BYTES) return key;
  throw new BootError(
    `plugin "${plugin}": ${what} must be ${LEAST_BYTES} to ${MOST_BYTES} bytes in base64: make one with openssl rand -base64 32`,
    plugin,
  );
}

export interface Signed {
  /** Stays the same when the event is sent again. */
  readonly id: string;
  /** Of this try, in ms. */
  readonly at: number;
  readonly body: string;
}

/** The headers of Standard Webhooks, with a signature by each key; without a key there is none. */
export function signatureHeaders(keys: readonly Buffer[], { id, at, body }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (keys.length === 0) return headers;
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return { ...headers, 'webhook-signature': signatures.join(' ') };
}
