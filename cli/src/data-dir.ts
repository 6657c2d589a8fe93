import { ensureDataDir, loadConfig, lockDataDir, type ResolvedConfig } from '@svc/kernel';
import { existsSync } from 'node:fs';
import { Failure } from './failure.js';
import { toConfigFile } from './installation.js';

/** Selects a data directory of this host; by default that of the configuration. */
export interface DataDirOptions {
  readonly config?: string;
  readonly dataDir?: string;
}

export async function loadDataDirConfig({ config: file, dataDir }: DataDirOptions): Promise<ResolvedConfig> {
  return loadConfig(toConfigFile(file), { flags: dataDir === undefined ? {} : { dataDir } });
}

/** Runs `work` while no server works on the data directory; the lock keeps one from starting meanwhile. */
export async function withDataDir<T>(
  options: DataDirOptions,
  work: (config: ResolvedConfig) => Promise<T>,
): Promise<T> {
  const config = await loadDataDirConfig(options);
  ensureDataDir(config.dataDir);
  const lock = lockDataDir(config.dataDir);
  try {
    return await work(config);
  } finally {
    lock.release();
  }
}

/** Throws unless the server has been started once. */
export function requireDatabase({ database, dataDir }: ResolvedConfig): void {
  if (database.client === 'sqlite' && !existsSync(database.filename))
    throw new Failure(`there is no database in ${dataDir} yet: start the server once (svc up)`);
}
