import { createKernel, createLogger, loadConfig, type Kernel } from '@svc/kernel';
import { requireDatabase, type DataDirOptions } from './data-dir.js';
import { toConfigFile } from './installation.js';

/** Runs `work` with a server of this process on the data directory, where no other can be meanwhile. No agent knows its port. */
export async function withServerOfOurOwn<T>(
  { config: file, dataDir }: DataDirOptions,
  work: (kernel: Kernel) => Promise<T>,
): Promise<T> {
  const flags = { host: '127.0.0.1', port: 0, ...(dataDir !== undefined && { dataDir }) };
  const config = await loadConfig(toConfigFile(file), { flags });
  requireDatabase(config);
  const kernel = createKernel(config, { log: createLogger('silent') });
  await kernel.start();
  try {
    return await work(kernel);
  } finally {
    await kernel.close();
  }
}
