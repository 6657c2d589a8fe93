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
 * `tryNative` makes the file share this process's module instances also when they are loaded from source; with
 * plain Node, which cannot read TypeScript, jiti transforms the file and imports our packages natively all the same.
 */
async function importDefault(path: string, shown: string): Promise<Config> {
  const jiti = createJiti(import.meta.url, { tryNative: true, fsCache: false, moduleCache: false });
  let config: unknown;
  try {
    config = await jiti.import(path, { default: true });
  } catch (cause) {
    throw new BootError(`${toPlace(cause, path, shown)}: ${firstLine(cause)}`, undefined, { cause });
  }
  if (typeof config === 'object' && config !== null && 'plugins' in config) return config as Config;
  throw new BootError(`${shown}: must export default defineConfig({ plugins: [...] })`);
}

/** `svc.config.ts:3:7` when the error, or its stack, says where. */
function toPlace(error: unknown, path: string, shown: string): string {
  const { message = '', stack = '' } = error as Partial<Error>;
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const place = new RegExp(`${escaped}:(\\d+(?::\\d+)?)`).exec(`${message}\n${stack}`)?.[1];
  return place === undefined ? shown : `${shown}:${place}`;
}

function firstLine(error: unknown): string {
  const [first = ''] = String((error as Partial<Error>).message ?? error).split('\n');
  return first.replace(/^ParseError:\s*/, '').trim();
}
