import { defineAgentPlugin, SlowCollector, type AgentPlugin } from '@svc/agent';
import type { SlotSpec } from '@svc/contract';
import { execFile } from 'node:child_process';
import os from 'node:os';
import { promisify } from 'node:util';
import { parseAccelerators, toFigures, toSlots } from './agent/accelerators.js';

/** Each answer starts a program. */
const EVERY_MS = 10_000;
const QUERY = ['-r', '-c', 'IOAccelerator', '-d', '1', '-w', '0', '-a'];
const TIMEOUT_MS = 15_000;
const run = promisify(execFile);

export interface AppleOptions {
  readonly ioreg?: string;
  readonly platform?: string;
}

/** The GPUs of a Mac by ioreg: their slots and metrics. On other systems it does nothing. Tests replace the program. */
export default function gpuApple({
  ioreg = 'ioreg',
  platform = process.platform,
}: AppleOptions = {}): AgentPlugin {
  return defineAgentPlugin({
    name: 'gpu-apple',
    setup(ctx) {
      if (platform !== 'darwin') return;
      const totalMb = Math.round(os.totalmem() / 2 ** 20);
      const ask = async (signal: AbortSignal) => {
        const { stdout } = await run(ioreg, QUERY, { timeout: TIMEOUT_MS, maxBuffer: 16 * 2 ** 20, signal });
        return parseAccelerators(stdout);
      };
      let own: readonly SlotSpec[] = [];
      ctx.hooks.slotSources.tap(ctx.name, (sources) =>
        sources.add({
          name: ctx.name,
          discover: async (signal) => [...(own = toSlots(await ask(signal), totalMb))],
        }),
      );
      ctx.hooks.collectors.tap(ctx.name, (collectors) =>
        collectors.add(
          new SlowCollector({
            name: ctx.name,
            everyMs: EVERY_MS,
            log: ctx.log,
            isWanted: () => own.length > 0,
            ask: async (signal) => ({ measured: toFigures(await ask(signal), totalMb) }),
          }),
        ),
      );
    },
  })();
}
