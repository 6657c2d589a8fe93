import { failBoot } from '@svc/hooks';
import { createJiti } from 'jiti';
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { resolveConfig, type Config, type ResolvedConfig, type ResolveOptions } from './config.js';
import { locateBootError } from './locate.js';

const EXAMPLE = 'export default defineConfig({ plugins: [...] })';

/** Reads, checks and completes a configuration file. */
export async function loadConfig(
  file = 'svc.config.ts',
  options: Omit<ResolveOptions, 'source'> = {},
): Promise<ResolvedConfig> {
  const path = resolve(file);
  const shown = relative('', path).startsWith('..') ? path : relative('', path);
  if (!existsSync(path)) failBoot(`there is no ${shown}; make one with ${EXAMPLE}`);
  const source = { file: shown, text: readFileSync(path, 'utf8') };
  const config = await importDefault(path, shown);
  if (!config?.plugins) failBoot(`${shown}: must have ${EXAMPLE}`);
  try {
    return resolveConfig(config as Config, { ...options, source });
  } catch (error) {
    throw locateBootError(error, source);
  }
}

/**
 * With `tryNative` the file shares the modules of this process, also when they run from source. Plain Node cannot read TypeScript: there
 * jiti transforms the file and imports the built packages natively.
 */
async function importDefault(path: string, shown: string): Promise<Partial<Config> | undefined> {
  const jiti = createJiti(import.meta.url, { tryNative: true, fsCache: false, moduleCache: false });
  try {
    return await jiti.import(path, { default: true });
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    const [, after = ''] = `${message}\n${stack}`.split(path);
    const position = /^(:\d+)+/.exec(after)?.[0] ?? '';
    const [reason = ''] = message.replace(/^ParseError:\s*/, '').split('\n');
    // Without the cause: Node would print it with source text of the file, which may contain the password of the database.
    return failBoot(`${shown}${position}: ${reason.trim()}`);
  }
}
