import type { NodeCapacity } from '@svc/plugin-nodes';
import type { QueueItem } from '../../src/queue-item.js';

let serial = 0;
/** A job that waits, and what is said of it. */
export const job = (changes: Partial<QueueItem> = {}): QueueItem => ({
  id: `job_${++serial}`,
  attempt: 1,
  gpu: 1,
  runner: 'process',
  node_selector: {},
  not_before: null,
  head_since: null,
  preferred_node_id: null,
  ...changes,
});

interface NodeSketch extends Partial<NodeCapacity> {
  total?: number;
  free?: number;
  model?: string;
}
/** An online node with `free` of `total` GPUs. */
export const node = (
  name: string,
  { total = 0, free = total, model = 'H200', labels, ...changes }: NodeSketch = {},
): NodeCapacity => ({
  id: `node_${name}`,
  name,
  status: 'ONLINE',
  connected: true,
  labels: { node: name, node_id: `node_${name}`, hostname: `${name}.local`, ...labels },
  runners: [{ name: 'process', available: true, reason: null, version: null }],
  slots: Array.from({ length: total }, (_, index) => ({
    index,
    model,
    free: index < free,
    health: 'ok',
    trouble: null,
  })),
  cpu_jobs: 0,
  max_cpu_jobs: 4,
  offline_at: null,
  ...changes,
});
