import type { NodeCapacity } from '@svc/plugin-nodes';
import { expect } from 'chai';
import fc from 'fast-check';
import { planPass } from '../src/plan-pass.js';
import type { QueueItem } from '../src/queue-item.js';
import { naivePlan } from './support/naive-plan.js';

const NOW = 1_700_000_000_000;
const isExternal = (runner: string) => runner === 'slurm';
const CONTEXT = { now: NOW, starvationAfterMs: 600_000, backoffMaxMs: 300_000, isExternal };

const selectors = fc.dictionary(
  fc.constantFrom('zone', 'tier', 'gpu_model', 'node'),
  fc.constantFrom('a', 'b', 'n1', 'nowhere'),
  { maxKeys: 3 },
);

const jobs = fc.record({
  attempt: fc.integer({ min: 1, max: 3 }),
  gpu: fc.integer({ min: 0, max: 5 }),
  runner: fc.constantFrom('process', 'process', 'docker', 'slurm'),
  node_selector: fc.oneof(fc.constant({}), selectors),
  not_before: fc.constantFrom(null, null, null, NOW - 1, NOW + 5000),
  head_since: fc.constantFrom(null, null, NOW - 1_200_000),
  preferred_node_id: fc.constantFrom(null, null, 'node_0', 'node_3', 'node_gone'),
});

const states = fc.constantFrom('ok', 'ok', 'ok', 'unhealthy', 'quarantined', 'foreign');
const slots = fc.array(
  fc
    .record({ model: fc.constantFrom('a', 'b'), free: fc.boolean(), health: states })
    .map((slot) => ({ ...slot, trouble: slot.health === 'ok' ? null : `is ${slot.health}` })),
  { maxLength: 6 },
);

const nodes = fc.record({
  status: fc.constantFrom<NodeCapacity['status'][]>('ONLINE', 'ONLINE', 'ONLINE', 'DRAINING', 'OFFLINE'),
  connected: fc.constantFrom(true, true, true, false),
  labels: fc.dictionary(fc.constantFrom('zone', 'tier', 'gpu_model'), fc.constantFrom('a', 'b')),
  runners: fc.subarray(['process', 'docker', 'slurm'], { minLength: 1 }),
  slots,
  cpu_jobs: fc.integer({ min: 0, max: 2 }),
  max_cpu_jobs: fc.integer({ min: 0, max: 3 }),
});

const toNode = ({ labels, runners, slots, ...node }: FcValue<typeof nodes>, index: number): NodeCapacity => ({
  ...node,
  id: `node_${index}`,
  name: `n${index}`,
  labels: { ...labels, node: `n${index}` },
  runners: ['process', 'docker', 'slurm'].map((name) => {
    const available = runners.includes(name);
    return { name, available, reason: available ? null : 'not there', version: null };
  }),
  slots: slots.map((slot, slotIndex) => ({ index: slotIndex, ...slot })),
  offline_at: null,
});
type FcValue<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

/** A few, and as many as a large cluster has. */
const clusters = fc.oneof(
  fc.array(nodes, { maxLength: 8 }),
  fc.array(nodes, { minLength: 30, maxLength: 70 }),
);

describe('a plan', () => {
  it('is the one that the rules give, taken word by word', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(jobs, { maxLength: 60, size: 'max' }),
        clusters,
        async (sketches, cluster) => {
          const queue = sketches.map((job, index): QueueItem => ({ ...job, id: `job_${index}` }));
          const capacities = cluster.map(toNode);
          const { placements, reasons, newHeads } = await planPass(queue, capacities, CONTEXT);
          expect({
            placements: placements.map(({ job_id, node, gpu_indices }) => [job_id, node.id, gpu_indices]),
            reasons: [...reasons],
            newHeads,
          }).to.deep.equal(naivePlan(queue, capacities, CONTEXT));
        },
      ),
      { numRuns: 400 },
    ));
});
