import { SECRET_CHARACTERS, SECRET_LENGTH, type Scope } from '@svc/contract';
import { createHash, randomInt } from 'node:crypto';

/** 43 base62 characters, each drawn without bias: 256 bits. */
export function createSecret(): string {
  const draw = () => SECRET_CHARACTERS[randomInt(SECRET_CHARACTERS.length)];
  return Array.from({ length: SECRET_LENGTH }, draw).join('');
}

export function createTokenText(scope: Scope): string {
  return `svc_${scope}_${createSecret()}`;
}

/**
 * What is stored and looked up. A plain SHA-256 is enough for 256 random bits, and a look-up by hash needs no
 * constant-time comparison: what its timing could tell is about a hash that the caller cannot steer.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
