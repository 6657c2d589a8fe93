import { existsSync } from 'node:fs';
import path from 'node:path';
import { CONFIG_FILE, type AgentConfig, type AgentPlugin } from '@svc/agent';
import builtIn from '../../svc.agent.config.js';
import { Failure } from './failure.js';
import { INSTALLATION } from './installation.js';

/** The plugins of `--config`, else of svc.agent.config.ts in the working directory, else the built-in ones. */
export async function loadAgentPlugins(given?: string): Promise<readonly AgentPlugin[]> {
  const file = path.resolve(given ?? CONFIG_FILE);
  const isBuiltIn = file === path.join(INSTALLATION, CONFIG_FILE);
  if (isBuiltIn || (given === undefined && !existsSync(file))) return builtIn.plugins;
  if (!existsSync(file)) throw new Failure(`there is no ${file}; make one with ${EXAMPLE}`);
  const config = await importDefault(file);
  if (!Array.isArray(config?.plugins)) throw new Failure(`${file}: must have ${EXAMPLE}`);
  return config.plugins;
}

const EXAMPLE = 'export default defineAgentConfig({ plugins: [...] })';

/** jiti is imported here, as it is not needed without a configuration file. */
async function importDefault(file: string): Promise<Partial<AgentConfig> | undefined> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, { tryNative: true, fsCache: false, moduleCache: false });
  try {
    return await jiti.import(file, { default: true });
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message}`, { cause: error });
  }
}
