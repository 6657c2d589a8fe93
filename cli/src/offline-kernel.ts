import { createKernel, createLogger, type Clock, type Kernel, type ResolvedConfig } from '@svc/kernel';

/**
 * Runs `work` with the plugins set up on the data directory and its schema up to date; the lock keeps a server from starting meanwhile. No
 * plugin gets `ready`: agents cannot reach this process, so it must not mark nodes OFFLINE and their jobs LOST.
 */
export async function withOfflineKernel<T>(
  config: ResolvedConfig,
  work: (kernel: Kernel) => Promise<T>,
  parts: { readonly clock?: Clock } = {},
): Promise<T> {
  const kernel = createKernel(config, { ...parts, log: createLogger('silent') });
  try {
    await kernel.open();
    return await work(kernel);
  } finally {
    await kernel.close();
  }
}
