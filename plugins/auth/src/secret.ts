import { SCOPES, type Scope } from '@svc/contract';
import { createHash, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 > 2^256. */
const SECRET_LENGTH = 43;
const TOKEN = new RegExp(`^svc_(?:${SCOPES.join('|')})_[${BASE62}]{${SECRET_LENGTH}}$`);

/** 43 base62 characters, each drawn without bias: 256 bits. */
export function createSecret(): string {
  return Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('');
}

export function createTokenText(scope: Scope): string {
  return `svc_${scope}_${createSecret()}`;
}

export function isTokenText(bearer: string): boolean {
  return TOKEN.test(bearer);
}

/**
 * What is stored and looked up. A plain SHA-256 is enough for 256 random bits, and a look-up by hash needs no
 * constant-time comparison: what its timing could tell is about a hash that the caller cannot steer.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
