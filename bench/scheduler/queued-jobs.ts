import { newId } from '@svc/contract';
import type { Db } from '@svc/kernel';

/** What the jobs of a queue differ in. */
export interface JobRequirements {
  readonly gpu: number;
  readonly priority: number;
  readonly node_selector: Readonly<Record<string, string>>;
}

/** Queues to measure, by name; the number is that of the job. */
export const QUEUES: Readonly<Record<string, (index: number) => JobRequirements>> = {
  'all alike': () => ({ gpu: 1, priority: 0, node_selector: {} }),
  mixed: (index) => ({
    gpu: index % 9,
    priority: index % 7,
    node_selector: index % 5 === 0 ? { zone: `z${index % 10}` } : {},
  }),
  'each its own node_selector': (index) => ({
    gpu: 1 + (index % 8),
    priority: index % 7,
    node_selector: { zone: `z${index % 10}`, owner: `user-${index}` },
  }),
  'each its own, that nodes match': (index) => ({
    gpu: 1 + (index % 8),
    priority: index % 7,
    node_selector: toFlags(index),
  }),
};

/** As many labels as numbers of that size have binary digits. */
export const FLAGS = 14;

/** A selector of its own for each number below 2 ** FLAGS; a node with all of `toFlags(-1)` matches every one. */
export function toFlags(number: number): Record<string, string> {
  const digits = Array.from({ length: FLAGS }, (_, digit) => digit).filter((digit) => number & (1 << digit));
  return Object.fromEntries(digits.map((digit) => [`flag-${digit}`, 'yes']));
}

/** Puts jobs straight into the table, as they are once they are submitted. */
export async function insertQueued(
  db: Db,
  count: number,
  toWants: (index: number) => JobRequirements,
): Promise<void> {
  const startedAt = Date.now() - count;
  const rows = Array.from({ length: count }, (_, index) => toRow(toWants(index), index, startedAt + index));
  await db.batchInsert('jobs', rows, 500);
}

function toRow({ gpu, priority, node_selector }: JobRequirements, index: number, at: number): object {
  return {
    id: newId('job', at),
    name: `train-${index}`,
    type: 'TRAIN',
    command: JSON.stringify(['python3', 'train.py', '--lr', '0.001', '--seed', String(index)]),
    working_dir: '/data/projects/example',
    runner: 'process',
    runner_options: '{}',
    gpu,
    priority,
    env: JSON.stringify({ DATA: '/data/sets/example', OMP_NUM_THREADS: '4' }),
    node_selector: JSON.stringify(node_selector),
    max_attempts: 3,
    attempt: 1,
    status: 'QUEUED',
    pending_reason: 'just queued',
    gpu_indices: '[]',
    created_at: at,
    queued_at: at,
  };
}
