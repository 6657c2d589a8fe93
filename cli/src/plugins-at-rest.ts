import {
  createKernel,
  createLogger,
  definePlugin,
  type Clock,
  type Kernel,
  type ResolvedConfig,
} from '@svc/kernel';

/**
 * Runs `work` with the plugins set up on the data directory, where no server can be meanwhile, and its schema up to date. None of them is at
 * work: no agent can reach this process, so it must not take nodes for silent and give their jobs up.
 */
export async function withPluginsAtRest<T>(
  config: ResolvedConfig,
  work: (kernel: Kernel) => Promise<T>,
  parts: { readonly clock?: Clock } = {},
): Promise<T> {
  let outcome = null as Promise<T> | null;
  // The first to be ready: the boot ends where the work does, before any other does something.
  const worker = definePlugin({
    name: 'work-at-rest',
    setup: (ctx) =>
      ctx.ready(async () => {
        outcome = work(kernel);
        await outcome.catch(() => undefined);
        throw new Error('the work is done: nothing more is to be started');
      }),
  });
  const plugins = [worker(), ...config.plugins];
  const kernel = createKernel({ ...config, plugins }, { ...parts, log: createLogger('silent') });
  await kernel.start().catch((error: unknown) => {
    if (!outcome) throw error;
  });
  return outcome as Promise<T>;
}
