import type { NodeCapacity } from '@svc/plugin-nodes';
import { expect } from 'chai';
import { planPass, type PassPlan } from '../src/plan-pass.js';
import type { QueueItem } from '../src/queue-item.js';
import { job, node } from './support/plan-sketches.js';

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const CONTEXT = {
  now: NOW,
  starvationAfterMs: 10 * MINUTE,
  backoffMaxMs: 5 * MINUTE,
  isExternal: () => false,
};

const plan = (queue: QueueItem[], nodes: NodeCapacity[]): Promise<PassPlan> =>
  planPass(queue, nodes, CONTEXT);
const placed = ({ placements }: PassPlan) =>
  placements.map(({ job_id, node: { name }, gpu_indices }) => [job_id, name, gpu_indices]);
const reasonOf = async (item: QueueItem, nodes: NodeCapacity[]) =>
  (await plan([item], nodes)).reasons.get(item.id);

describe('a scheduling pass with GPUs in trouble', () => {
  const FOREIGN = 'is used by python (pid 4711, alice, 10 GiB), which is not a job of svc';
  const troubled = (name: string, troubles: (string | null)[]) =>
    node(name, {
      slots: troubles.map((trouble, index) => ({
        index,
        model: 'H200',
        free: true,
        health: trouble === null ? 'ok' : trouble === FOREIGN ? 'foreign' : 'unhealthy',
        trouble,
      })),
    });

  it('gives jobs the others', async () => {
    const items = [job(), job()];
    expect(placed(await plan(items, [troubled('a', [FOREIGN, null, 'is lost', null])]))).to.deep.equal([
      [items[0]!.id, 'a', [1]],
      [items[1]!.id, 'a', [3]],
    ]);
  });

  it('says which they are, the worst first, to the first job that could have one', async () => {
    const items = [job(), job(), job({ gpu: 3 })];
    const { reasons } = await plan(items, [troubled('a', [FOREIGN, 'is lost', 'is lost'])]);
    expect([...reasons.values()]).to.deep.equal([
      'waiting for 1 free GPU: GPU 1 of a is lost; GPU 2 of a is lost; and 1 more GPU is not usable',
      'waiting for 1 free GPU behind 1 job',
      'waiting for 3 free GPUs on one node behind 2 jobs: GPU 1 of a is lost; GPU 2 of a is lost; and 1 more GPU is not usable',
    ]);
  });

  it('says how many are free, where these are too few', async () => {
    expect(await reasonOf(job({ gpu: 3 }), [troubled('a', [null, FOREIGN, null])])).to.equal(
      `waiting for 3 free GPUs on one node: 2 of 3 are free on a; GPU 1 of a ${FOREIGN}`,
    );
  });

  it('says nothing of those that a job holds, or of another model', async () => {
    const slots = [
      { index: 0, model: 'H200', free: false, health: 'foreign', trouble: FOREIGN } as const,
      { index: 1, model: 'A100', free: true, health: 'unhealthy', trouble: 'is lost' } as const,
    ];
    const item = job({ node_selector: { gpu_model: 'H200' } });
    expect(await reasonOf(item, [node('a', { slots })])).to.equal('waiting for 1 free GPU');
  });

  it('keeps no node free for a job that has too few sound GPUs there', async () => {
    const starving = job({ gpu: 2, head_since: NOW - 11 * MINUTE });
    const small = job();
    expect(placed(await plan([starving, small], [troubled('a', [null, 'is lost'])]))).to.deep.equal([
      [small.id, 'a', [0]],
    ]);
  });
});
