import type { NodeCapacity } from '@svc/plugin-nodes';
import * as sentence from './fit-problem.js';
import type { JobRequirements } from './queue-item.js';

/** The nodes that could run the job if they were empty, or the reason why there are none. */
export function findFitting<Node extends NodeCapacity>(
  job: JobRequirements,
  nodes: readonly Node[],
  isExternal: boolean,
): readonly Node[] | string {
  const matching = nodes.filter((node) => matches(node, job.node_selector));
  const online = matching.filter(isOnline);
  const open = online.filter(({ status }) => status !== 'DRAINING');
  const able = open.filter((node) => canRun(node, job.runner));
  const fitting = isExternal ? able : able.filter((node) => isLargeEnough(node, job));
  if (fitting.length > 0) return fitting;

  if (!nodes.some(isOnline)) return sentence.noneOnline(nodes);
  if (online.length === 0) return sentence.noneMatches(job, matching);
  if (open.length === 0) return sentence.allDraining(online);
  if (able.length === 0) return sentence.noneRuns(job.runner, open);
  const counts = able.map(({ slots }) => wantedSlots(slots, job).length);
  const unable = open.filter((node) => !canRun(node, job.runner) && isLargeEnough(node, job));
  return sentence.noneLargeEnough(job, Math.max(...counts), unable);
}

/** The slots of the GPU model that the job asks for. */
export function wantedSlots<Slot extends { readonly model: string }>(
  slots: readonly Slot[],
  { node_selector: { gpu_model } }: JobRequirements,
): readonly Slot[] {
  return gpu_model === undefined ? slots : slots.filter(({ model }) => model === gpu_model);
}

/** The selector `gpu_model` is compared with the slots of the node, every other one with its labels. */
function matches({ labels, slots }: NodeCapacity, selector: JobRequirements['node_selector']): boolean {
  for (const label in selector) {
    const value = selector[label];
    const isMatch =
      label === 'gpu_model' ? slots.some(({ model }) => model === value) : labels[label] === value;
    if (!isMatch) return false;
  }
  return true;
}

function isOnline({ connected, status }: NodeCapacity): boolean {
  return connected && status !== 'OFFLINE';
}

function canRun({ runners }: NodeCapacity, runner: string): boolean {
  return runners.some(({ name, available }) => name === runner && available);
}

function isLargeEnough({ slots, max_cpu_jobs }: NodeCapacity, job: JobRequirements): boolean {
  return job.gpu === 0 ? max_cpu_jobs > 0 : wantedSlots(slots, job).length >= job.gpu;
}
