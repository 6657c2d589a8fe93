export { failureOf } from '@svc/hooks/testing';
import type { Plugin, PluginContext } from '../src/index.js';
import { createKernel, definePlugin, resolveConfig, type Config, type Kernel } from '../src/index.js';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A plugin of that name; `setup` may do nothing. */
export function plugin(
  name: string,
  setup: (ctx: PluginContext) => void | Promise<void> = () => undefined,
  order: { requires?: string[]; uses?: string[] } = {},
): Plugin {
  return definePlugin({ name, ...order, setup })();
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'svc-kernel-'));
}

/** A kernel as `svc server` makes it, but quiet and on a port of its own. */
export function quietKernel(
  plugins: Plugin[],
  config: Partial<Config> = {},
  parts: Parameters<typeof createKernel>[1] = {},
): Kernel {
  const quiet = { port: 0, logLevel: 'silent', dataDir: temporaryDirectory(), plugins, ...config } as const;
  return createKernel(resolveConfig(quiet, { env: {} }), parts);
}
