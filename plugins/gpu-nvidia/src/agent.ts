import { defineAgentPlugin, type AgentPlugin } from '@svc/agent';
import { listGpus } from './agent/gpu-list.js';
import { NvidiaMeter } from './agent/gpu-meter.js';
import { XidErrors } from './agent/xid-errors.js';

/** The GPUs of this host by nvidia-smi: their slots and metrics, and their errors in the kernel log. Tests replace nvidia-smi and the log. */
export default function gpuNvidia(program = 'nvidia-smi', kernelLog?: string): AgentPlugin {
  return defineAgentPlugin({
    name: 'gpu-nvidia',
    setup(ctx) {
      const meter = new NvidiaMeter(ctx.log, program);
      const xids = new XidErrors(ctx.log, (address) => meter.indexAt(address), kernelLog);
      let hasGpus = false;
      const discover = async (signal: AbortSignal) => {
        const gpus = await listGpus(program, signal);
        hasGpus = gpus.length > 0;
        return gpus;
      };
      ctx.hooks.slotSources.tap(ctx.name, (sources) => sources.add({ name: 'nvidia-smi', discover }));
      ctx.hooks.collectors.tap(ctx.name, (collectors) =>
        // They run only if there are real GPUs.
        collectors.add({
          name: meter.name,
          of: meter.of,
          start: () => hasGpus && meter.start(),
          measure: () => meter.measure(),
          processes: () => meter.processes(),
          close: () => meter.close(),
        }),
      );
      ctx.hooks.collectors.tap(ctx.name, (collectors) =>
        collectors.add({
          name: xids.name,
          of: xids.of,
          start: () => hasGpus && xids.start(),
          measure: () => xids.measure(),
          close: () => xids.close(),
        }),
      );
    },
  })();
}
