import {
  attemptPrepare,
  defineAgentPlugin,
  ProcessOwners,
  SlowCollector,
  type AgentPlugin,
} from '@svc/agent';
import type { AmdTool } from './agent/amd-tool.js';
import { findTool, type Programs } from './agent/tools.js';

/** Both tools are Python programs, which take a CPU for about half a second to start. */
const EVERY_MS = 20_000;
/** What ROCm opens, whichever GPU it uses. */
const DEVICES = ['/dev/kfd', '/dev/dri'];

/** The GPUs of this host by amd-smi, or by rocm-smi where there is no amd-smi: their slots and metrics. Tests replace the programs. */
export default function gpuAmd({
  amdSmi = 'amd-smi',
  rocmSmi = 'rocm-smi',
}: Partial<Programs> = {}): AgentPlugin {
  return defineAgentPlugin({
    name: 'gpu-amd',
    setup(ctx) {
      const owners = new ProcessOwners(ctx.node.id);
      const ownerOf = (pid: number) => owners.ownerOf(pid);
      let tool: AmdTool | null = null;
      let uuids = new Set<string>();
      let indices: ReadonlySet<number> = new Set();
      ctx.hooks.slotSources.tap(ctx.name, (sources) =>
        sources.add({
          name: ctx.name,
          discover: async (signal) => {
            const found = await findTool({ amdSmi, rocmSmi }, ownerOf, signal);
            tool = found?.tool ?? null;
            uuids = new Set(found?.slots.map(({ uuid }) => uuid));
            return (found?.slots ?? []).map((slot) => ({ ...slot, devices: DEVICES }));
          },
        }),
      );
      ctx.hooks.collectors.tap(ctx.name, (collectors) =>
        collectors.add(
          new SlowCollector({
            name: ctx.name,
            everyMs: EVERY_MS,
            log: ctx.log,
            isWanted: (slots) => {
              indices = new Set(slots.filter(({ uuid }) => uuids.has(uuid)).map(({ index }) => index));
              return indices.size > 0;
            },
            ask: async (signal) => (tool === null ? { measured: {} } : tool.ask(indices, signal)),
          }),
        ),
      );
      // HIP takes an empty list for no list at all, and shows every GPU: an index that no GPU has hides them.
      ctx.tap(attemptPrepare, async ({ gpuIndices }) => {
        if (indices.size === 0) return;
        const own = gpuIndices.filter((index) => indices.has(index));
        return { env: { HIP_VISIBLE_DEVICES: own.length > 0 ? own.join(',') : '-1' } };
      });
    },
  })();
}
