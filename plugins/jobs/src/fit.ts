import type { NodeCapacity } from '@svc/plugin-nodes';
import type { QueueItem } from './plan-pass.js';

/** A node that could run the job if it were empty. */
export interface FittingNode {
  readonly node: NodeCapacity;
  /** Only slots of this model count; null: all do. */
  readonly gpuModel: string | null;
}

export interface Fit {
  readonly nodes: readonly FittingNode[];
  /** Why no node fits; null when one does. */
  readonly problem: string | null;
}

type Wants = Pick<QueueItem, 'gpu' | 'runner' | 'node_selector'>;

/** Which nodes could ever run such a job as things are, or the first thing that stands in the way. */
export function fitOf(job: Wants, nodes: readonly NodeCapacity[]): Fit {
  const problem = (text: string): Fit => ({ nodes: [], problem: text });

  const online = nodes.filter((node) => node.connected && node.status !== 'OFFLINE');
  if (online.length === 0) return problem(noneOnline(nodes));

  const matching = online.filter((node) => matches(node, job.node_selector));
  if (matching.length === 0) return problem(noneMatches(job, nodes));

  const open = matching.filter((node) => node.status !== 'DRAINING');
  if (open.length === 0) return problem(`every node that matches is draining: ${names(matching)}`);

  const able = open.filter((node) =>
    node.runners.some(({ name, available }) => name === job.runner && available),
  );
  if (able.length === 0) return problem(noneRuns(job.runner, open));

  const gpuModel = job.node_selector['gpu_model'] ?? null;
  const fitting = able.filter((node) =>
    job.gpu === 0 ? node.max_cpu_jobs > 0 : countSlots(node, gpuModel) >= job.gpu,
  );
  if (fitting.length === 0) return problem(noneLargeEnough(job, able, gpuModel));
  return { nodes: fitting.map((node) => ({ node, gpuModel })), problem: null };
}

function matches(node: NodeCapacity, selector: Wants['node_selector']): boolean {
  return Object.entries(selector).every(([label, value]) =>
    label === 'gpu_model' ? node.slots.some(({ model }) => model === value) : node.labels[label] === value,
  );
}

function countSlots(node: NodeCapacity, gpuModel: string | null): number {
  return gpuModel === null ? node.slots.length : node.slots.filter(({ model }) => model === gpuModel).length;
}

function noneOnline(nodes: readonly NodeCapacity[]): string {
  if (nodes.length === 0) return 'no node has registered yet: start an agent';
  const away = nodes.map(
    ({ name, status }) => `${name} is ${status === 'OFFLINE' ? 'OFFLINE' : 'disconnected'}`,
  );
  return `no node is online: ${enumerate(away)}`;
}

function noneMatches({ node_selector }: Wants, nodes: readonly NodeCapacity[]): string {
  const selector = Object.entries(node_selector).map(([label, value]) => `${label}=${value}`);
  const away = nodes.filter((node) => matches(node, node_selector));
  const hint = away.length > 0 ? `; ${names(away)} would, but is not online` : '';
  return `no online node matches node_selector ${selector.join(', ')}${hint}`;
}

function noneRuns(runner: string, nodes: readonly NodeCapacity[]): string {
  const why = nodes.map((node) => {
    const probe = node.runners.find(({ name }) => name === runner);
    return `${node.name}: ${probe?.reason ?? 'its agent has no such runner'}`;
  });
  return `no node that matches can use the runner "${runner}": ${enumerate(why)}`;
}

function noneLargeEnough(
  { gpu, node_selector }: Wants,
  nodes: readonly NodeCapacity[],
  gpuModel: string | null,
): string {
  const which = Object.keys(node_selector).length === 0 ? 'online' : 'matching';
  if (gpu === 0) return `no ${which} node takes cpu-only jobs`;
  const largest = Math.max(...nodes.map((node) => countSlots(node, gpuModel)));
  const has = largest === 0 ? `no ${which} node has one` : `the largest ${which} node has ${largest}`;
  return `needs ${gpu} GPU${gpu === 1 ? '' : 's'}: ${has}`;
}

function names(nodes: readonly NodeCapacity[]): string {
  return enumerate(nodes.map(({ name }) => name));
}

const SHOWN = 3;

function enumerate(items: readonly string[]): string {
  const more = items.length - SHOWN;
  return items.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
