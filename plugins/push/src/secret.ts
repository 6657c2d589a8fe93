import type { SecretRef } from '@svc/contract';
import { BootError, type PluginContext } from '@svc/kernel';
import { readFileSync, statSync } from 'node:fs';

const MOST_BYTES = 4096;

/** `what` says in errors what it is for, as in `the token of target "phone"`. Throws a BootError that does not hold the secret. */
export function readSecret(ctx: Pick<PluginContext, 'name' | 'log'>, what: string, ref: SecretRef): string {
  const refuse = (why: string): never => {
    throw new BootError(`plugin "${ctx.name}": ${what} ${why}`, ctx.name);
  };
  const secret = ('file' in ref ? readSecretFile(ctx, what, ref.file, refuse) : process.env[ref.env])?.trim();
  const place = 'file' in ref ? ref.file : `the variable ${ref.env}`;
  if (!secret) return refuse(`is missing: ${place} is empty`);
  // It becomes part of a header or of an address.
  if (!/^[\x21-\x7e]+$/.test(secret)) return refuse(`in ${place} has white space or characters beyond ASCII`);
  return secret;
}

function readSecretFile(
  { log }: Pick<PluginContext, 'log'>,
  what: string,
  file: string,
  refuse: (why: string) => never,
): string {
  try {
    const { mode, size } = statSync(file);
    if (size > MOST_BYTES) return refuse(`in ${file} is longer than ${MOST_BYTES} bytes`);
    if ((mode & 0o077) !== 0) log.warn({ file }, `other users can read ${what}: run chmod 600 on it`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof BootError) throw error;
    return refuse(`cannot be read from ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}
