import type { GpuUse, Run } from '@svc/contract';
import type { Attempt } from '@svc/plugin-jobs';
import type { NodeMetrics } from '@svc/plugin-node-metrics';

/** null without GPUs, and while they have not been measured. */
export async function gpuUse(
  nodeMetrics: NodeMetrics,
  run: Run,
  { node_id, gpu_indices }: Attempt,
  now: number,
): Promise<GpuUse | null> {
  if (node_id === null || gpu_indices.length === 0) return null;
  const names = gpu_indices.flatMap((index) => MEASURED.map((what) => nameOf(index, what)));
  const means = await nodeMetrics.means(node_id, names, run.started_at, run.finished_at ?? now);
  const slots = gpu_indices.flatMap((index) => {
    const [util, used, total] = MEASURED.map((what) => means.get(nameOf(index, what)) ?? null);
    if (util === null || util === undefined) return [];
    return [
      {
        index,
        utilization_percent: util,
        memory_used_mb: used ?? null,
        memory_total_mb: total ?? null,
      },
    ];
  });
  if (slots.length === 0) return null;
  const sum = slots.reduce((all, { utilization_percent }) => all + utilization_percent, 0);
  return { node_id, utilization_percent: sum / slots.length, slots };
}

const MEASURED = ['util', 'mem_used_mb', 'mem_total_mb'] as const;

function nameOf(index: number, what: string): string {
  return `gpu.${index}.${what}`;
}
