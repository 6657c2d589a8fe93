import { failValidation } from '@svc/validation';
import type { IncomingHttpHeaders } from 'node:http';

const MAX_KEY_LENGTH = 255;

/** The key in the `Idempotency-Key` header; null without one. Throws validation_error. */
export function parseIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const header = headers['idempotency-key'];
  if (header === undefined) return null;
  const isGood = typeof header === 'string' && header.trim() !== '' && header.length <= MAX_KEY_LENGTH;
  if (!isGood)
    failValidation({ path: 'Idempotency-Key', message: `must be 1 to ${MAX_KEY_LENGTH} characters` });
  return header as string;
}
