import { attemptEnded, attemptStarted, defineAgentPlugin, ProcessOwners, type AgentPlugin } from '@svc/agent';
import { readBootId } from '@svc/agent/boot-id';
import path from 'node:path';
import { Devices } from './agent/devices.js';
import { GpuWatch } from './agent/gpu-watch.js';
import { toSettings, type GpuNvidiaOptions } from './agent/options.js';
import { toPciAddress, XidErrors } from './agent/xid-errors.js';

export type { GpuNvidiaOptions } from './agent/options.js';

/** The NVIDIA GPUs of this host by nvidia-smi: slots, their health, figures and processes, and their errors in the kernel log. */
export default function gpuNvidia(options: GpuNvidiaOptions = {}): AgentPlugin {
  return defineAgentPlugin({
    name: 'gpu-nvidia',
    setup(ctx) {
      const settings = toSettings(options);
      const devices = new Devices(path.join(ctx.stateDir, ctx.name), readBootId());
      const owners = new ProcessOwners(ctx.node.id);
      const { log, clock } = ctx;
      const gpus = new GpuWatch(settings, { devices, owners, log, now: () => clock.now() });
      const indicesAt = (address: string) => gpus.indicesAt((each) => toPciAddress(each) === address);
      const xids = new XidErrors(log, indicesAt, settings.kernelLog);
      ctx.hooks.slotSources.tap(ctx.name, (sources) =>
        sources.add({
          name: 'nvidia-smi',
          discover: () => gpus.discover(),
          follow: (onChange) => gpus.follow(onChange),
          facts: () => gpus.facts(),
        }),
      );
      ctx.hooks.collectors.tap(ctx.name, (collectors) => {
        collectors.add({
          name: 'gpu-nvidia',
          of: 'host',
          measure: () => gpus.measure(),
          processes: () => gpus.processes(),
        });
        collectors.add({
          name: xids.name,
          of: xids.of,
          measure: () => {
            // GPUs may come after the agent has started.
            if (gpus.slots().length > 0) xids.start();
            return xids.measure();
          },
          close: () => xids.close(),
        });
      });
      ctx.tap(attemptStarted, (attempt) => gpus.started(attempt, attempt.gpuIndices));
      ctx.tap(attemptEnded, async (exit, attempt) => {
        await gpus.ended(attempt);
        return exit;
      });
      ctx.onClose(async () => {
        gpus.close();
        await devices.saved();
      });
    },
  })();
}
