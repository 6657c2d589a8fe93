import { defineAgentPlugin, type AgentPlugin } from '@svc/agent';
import { listGpus } from './agent/gpu-list.js';
import { NvidiaMeter } from './agent/gpu-meter.js';

/** The GPUs of this host by nvidia-smi: their slots and metrics. Tests replace nvidia-smi with another `program`. */
export default function gpuNvidia(program = 'nvidia-smi'): AgentPlugin {
  return defineAgentPlugin({
    name: 'gpu-nvidia',
    setup(ctx) {
      const meter = new NvidiaMeter(ctx.log, program);
      let hasGpus = false;
      const discover = async (signal: AbortSignal) => {
        const gpus = await listGpus(program, signal);
        hasGpus = gpus.length > 0;
        return gpus;
      };
      ctx.hooks.slotSources.tap(ctx.name, (sources) => sources.add({ name: 'nvidia-smi', discover }));
      ctx.hooks.collectors.tap(ctx.name, (collectors) =>
        collectors.add({
          ...{ name: meter.name, of: meter.of },
          // nvidia-smi runs only if there are real GPUs.
          start: () => hasGpus && meter.start(),
          measure: () => meter.measure(),
          processes: () => meter.processes(),
          close: () => meter.close(),
        }),
      );
    },
  })();
}
