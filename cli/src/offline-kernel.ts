import { createKernel, createLogger, type Clock, type Kernel, type ResolvedConfig } from '@svc/kernel';

/**
 * Runs `work` with the plugins set up on the data directory, where no server can be meanwhile, and its schema up to date. None of them is at
 * work: no agent can reach this process, so it must not take nodes for silent and give their jobs up.
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
