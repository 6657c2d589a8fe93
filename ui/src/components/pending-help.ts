import { toCommandLine } from '@svc/client';
import type { Job, NodeRecord } from '@svc/contract';
import { plural } from '../format.js';

/** What would let a job start that waits. `command` is to be typed in a terminal; `resubmit`: a new job with changes would help. */
export interface PendingHelp {
  readonly text: string;
  readonly command?: string;
  readonly resubmit?: boolean;
}

/** What would help a QUEUED job, told from the nodes as they are; `pending_reason` says what it waits for. */
export function toPendingHelp(
  job: Job,
  nodes: readonly NodeRecord[],
  origin: string,
  canWrite: boolean,
): PendingHelp[] {
  const { node_selector: selector, resources, runner } = job;
  const online = nodes.filter(({ status }) => status !== 'OFFLINE');
  if (nodes.length === 0)
    return [{ text: 'Start an agent on a host that is to run jobs:', command: `svc agent --url ${origin}` }];
  if (online.length === 0) return [{ text: `Start the agent on ${nameAll(nodes)} again.` }];
  const matching = online.filter((node) => matches(node, selector));
  if (matching.length === 0)
    return [
      {
        text: `No online node has ${describe(selector)}. Start the agent of a node that has it, or ask for another one.`,
        resubmit: true,
      },
    ];
  const open = matching.filter(({ status }) => status === 'ONLINE');
  if (open.length === 0)
    return matching.map(({ name }) => ({
      text: `${name} is drained and takes no new job. To let it take jobs again:`,
      command: toCommandLine(['svc', 'undrain', name]),
    }));
  const able = open.filter(({ runners }) => runners.some((one) => one.name === runner && one.available));
  if (able.length === 0)
    return [{ text: `Make the runner ${runner} work on a node, or use another runner.`, resubmit: true }];
  const most = Math.max(...able.map((node) => countSlots(node, selector)));
  if (resources.gpu > most)
    return [
      {
        text:
          most === 0
            ? 'Start an agent on a host with a GPU, or ask for none.'
            : `Start an agent on a host with ${plural(resources.gpu, 'GPU')}, or ask for at most ${most}.`,
        resubmit: true,
      },
    ];
  return [
    {
      text: `It starts by itself as soon as there is room.${canWrite ? ` To go ahead of other jobs, submit it with a priority above ${job.priority}, and cancel this one.` : ''}`,
      resubmit: true,
    },
  ];
}

function matches({ labels, slots }: NodeRecord, selector: Job['node_selector']): boolean {
  return Object.entries(selector).every(([label, value]) =>
    label === 'gpu_model' ? slots.some(({ model }) => model === value) : labels[label] === value,
  );
}

function countSlots({ slots }: NodeRecord, { gpu_model }: Job['node_selector']): number {
  return gpu_model === undefined ? slots.length : slots.filter(({ model }) => model === gpu_model).length;
}

function describe(selector: Job['node_selector']): string {
  return Object.entries(selector)
    .map(([label, value]) => `${label}=${value}`)
    .join(' and ');
}

function nameAll(nodes: readonly NodeRecord[]): string {
  const names = nodes.slice(0, 3).map(({ name }) => name);
  return nodes.length > 3 ? `${names.join(', ')} and ${nodes.length - 3} more` : names.join(', ');
}
