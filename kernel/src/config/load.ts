import { createJiti } from 'jiti';
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { BootError } from '../errors.js';
import {
  locateBootError,
  resolveConfig,
  type Config,
  type ResolvedConfig,
  type ResolveOptions,
} from './config.js';

/** Reads, checks and completes svc.config.ts of the working directory, or the file named. */
export async function loadConfig(
  file = 'svc.config.ts',
  options: Omit<ResolveOptions, 'source'> = {},
): Promise<ResolvedConfig> {
  const path = resolve(file);
  const shown = relative('', path).startsWith('..') ? path : relative('', path);
  if (!existsSync(path))
    throw new BootError(`there is no ${shown}; make one that exports defineConfig({ plugins: [...] })`);
  const source = { file: shown, text: readFileSync(path, 'utf8') };
  const config = await importDefault(path, shown);
  try {
    return resolveConfig(config, { ...options, source });
  } catch (error) {
    throw locateBootError(error, source);
  }
}

/**
 * `tryNative` makes the file share this process's modules also when they run from source; plain Node cannot read
 * TypeScript, so there jiti transforms the file, and imports our built packages natively all the same.
 */
async function importDefault(path: string, shown: string): Promise<Config> {
  const jiti = createJiti(import.meta.url, { tryNative: true, fsCache: false, moduleCache: false });
  const config = await jiti
    .import<Partial<Config> | undefined>(path, { default: true })
    .catch((cause: Error) => {
      const reason = cause.message
        .split('\n')[0]!
        .replace(/^ParseError:\s*/, '')
        .trim();
      throw new BootError(`${toPlace(cause, path, shown)}: ${reason}`, undefined, { cause });
    });
  if (config?.plugins) return config as Config;
  throw new BootError(`${shown}: must export default defineConfig({ plugins: [...] })`);
}

/** `svc.config.ts:3:7` when the error, or its stack, says where. */
function toPlace({ message, stack }: Error, path: string, shown: string): string {
  const [, after = ''] = `${message}\n${stack}`.split(path);
  return shown + (/^(:\d+)+/.exec(after)?.[0] ?? '');
}
