import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds svc.config.ts, examples/ and sdk/; this module lies two levels below it, built or not. */
export const INSTALLATION = fileURLToPath(new URL('../..', import.meta.url));

/** `--config`, else svc.config.ts of the working directory, else the one that comes with svc; absolute. */
export function toConfigFile(given?: string): string {
  const local = path.resolve(given ?? 'svc.config.ts');
  return given !== undefined || existsSync(local) ? local : path.join(INSTALLATION, 'svc.config.ts');
}
