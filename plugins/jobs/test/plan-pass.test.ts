import { expect } from 'chai';
import fc from 'fast-check';
import type { NodeCapacity } from '@svc/plugin-nodes';
import { planPass, type PassPlan } from '../src/plan-pass.js';
import type { QueueItem } from '../src/queue-item.js';
import { job, node } from './support/plan-sketches.js';

const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const STARVATION = {
  now: NOW,
  starvationAfterMs: 10 * MINUTE,
  backoffMaxMs: 5 * MINUTE,
  isExternal: (runner: string) => runner === 'slurm',
};

const plan = (queue: QueueItem[], nodes: NodeCapacity[]): Promise<PassPlan> =>
  planPass(queue, nodes, STARVATION);
const placed = ({ placements }: PassPlan) =>
  placements.map(({ job_id, node: { name }, gpu_indices }) => [job_id, name, gpu_indices]);
const reasonOf = async (item: QueueItem, nodes: NodeCapacity[]) =>
  (await plan([item], nodes)).reasons.get(item.id);

describe('a scheduling pass', () => {
  it('takes the queue in its order', async () => {
    const [first, second] = [job(), job()];
    expect(placed(await plan([first, second], [node('a', { total: 1 })]))).to.deep.equal([
      [first.id, 'a', [0]],
    ]);
  });

  it('gives a job that another engine schedules to a node with its runner, and takes nothing of that node', async () => {
    const runners = ['slurm', 'process'].map((name) => ({
      name,
      available: true,
      reason: null,
      version: null,
    }));
    const external = [job({ gpu: 64, runner: 'slurm' }), job({ gpu: 0, runner: 'slurm' })];
    const [gpu, cpu] = [job({ gpu: 1 }), job({ gpu: 0 })];
    const nodes = [node('a', { total: 1 }), node('login', { total: 1, max_cpu_jobs: 1, runners })];
    const result = await plan([...external, gpu, cpu, job({ runner: 'slurm' })], [nodes[1]!]);
    expect(placed(result).slice(0, 4)).to.deep.equal([
      ...external.map(({ id }) => [id, 'login', []]),
      [gpu.id, 'login', [0]],
      [cpu.id, 'login', []],
    ]);
    expect(result.placements.map(({ isExternal = false }) => isExternal)).to.deep.equal([
      true,
      true,
      false,
      false,
      true,
    ]);
    expect(await reasonOf(job({ runner: 'slurm' }), [nodes[0]!])).to.include('slurm');
  });

  it('lets a job that cannot start block nobody behind it', async () => {
    const [large, small] = [job({ gpu: 4 }), job()];
    const result = await plan([large, small], [node('a', { total: 4, free: 2 })]);
    expect(placed(result)).to.deep.equal([[small.id, 'a', [0]]]);
    expect(result.reasons.get(large.id)).to.equal('waiting for 4 free GPUs on one node');
  });

  it('packs GPU jobs: the node with the fewest free slots that suffice', async () => {
    const item = job({ gpu: 2 });
    const nodes = [
      node('a', { total: 8 }),
      node('b', { total: 8, free: 3 }),
      node('c', { total: 8, free: 1 }),
    ];
    expect(placed(await plan([item], nodes))).to.deep.equal([[item.id, 'b', [0, 1]]]);
  });

  it('spreads cpu-only jobs, and keeps to the cap', async () => {
    const items = [job({ gpu: 0 }), job({ gpu: 0 }), job({ gpu: 0 }), job({ gpu: 0 })];
    const nodes = [node('a', { max_cpu_jobs: 2, cpu_jobs: 1 }), node('b', { max_cpu_jobs: 2 })];
    const result = await plan(items, nodes);
    expect(placed(result).map(([, name]) => name)).to.deep.equal(['b', 'a', 'b']);
    expect(result.reasons.get(items[3]!.id)).to.equal('waiting for a free cpu-only place');
  });

  it('matches every label of node_selector, the built-in ones included', async () => {
    const nodes = [
      node('a', { total: 1, labels: { zone: 'x' } }),
      node('b', { total: 1, labels: { zone: 'y' }, model: 'A100' }),
    ];
    const on = async (node_selector: Record<string, string>) =>
      placed(await plan([job({ node_selector })], nodes))[0]?.[1];
    expect(await on({ zone: 'y' })).to.equal('b');
    expect(await on({ node: 'a' })).to.equal('a');
    expect(await on({ node_id: 'node_b' })).to.equal('b');
    expect(await on({ hostname: 'a.local', zone: 'x' })).to.equal('a');
    expect(await on({ gpu_model: 'A100' })).to.equal('b');
    expect(await on({ gpu_model: 'A100', zone: 'x' })).to.equal(undefined);
  });

  it('takes only slots of the wanted model on a mixed node', async () => {
    const models = ['A100', 'H200', 'A100', 'H200'];
    const slots = models.map((model, index) => ({
      index,
      model,
      free: index !== 1,
      health: 'ok' as const,
      trouble: null,
    }));
    const mixed = node('a', { slots });
    const two = job({ gpu: 2, node_selector: { gpu_model: 'H200' } });
    const one = job({ node_selector: { gpu_model: 'H200' } });
    const result = await plan([two, one], [mixed]);
    expect(placed(result)).to.deep.equal([[one.id, 'a', [3]]]);
  });

  describe('says why a job is not running', () => {
    const wants4 = job({ gpu: 4 });
    const cases: [string, QueueItem, NodeCapacity[], string][] = [
      ['no node at all', job(), [], 'no node has registered yet: start an agent'],
      [
        'nobody is there',
        job(),
        [node('a', { status: 'OFFLINE', connected: false }), node('b', { connected: false })],
        'no node is online: a is OFFLINE, b is disconnected',
      ],
      [
        'too large',
        wants4,
        [node('a', { total: 2 }), node('b', { total: 1 })],
        'needs 4 GPUs: the largest online node has 2',
      ],
      ['no GPUs', job(), [node('a')], 'needs 1 GPU: no online node has one'],
      [
        'too large for its selection',
        job({ gpu: 2, node_selector: { zone: 'x' } }),
        [node('a', { total: 1, labels: { zone: 'x' } }), node('b', { total: 8 })],
        'needs 2 GPUs: the largest matching node has 1',
      ],
      [
        'no label',
        job({ node_selector: { zone: 'x' } }),
        [node('a', { total: 1 })],
        'no online node matches node_selector zone=x',
      ],
      [
        'the match is away',
        job({ node_selector: { zone: 'x' } }),
        [node('a', { total: 1 }), node('b', { connected: false, labels: { zone: 'x' } })],
        'no online node matches node_selector zone=x; b would, but is not online',
      ],
      [
        'draining',
        job(),
        [node('a', { total: 1, status: 'DRAINING' })],
        'every node that matches is draining: a',
      ],
      [
        'no runner',
        job({ runner: 'docker' }),
        [
          node('a', { total: 1 }),
          node('b', {
            total: 1,
            runners: [
              { name: 'docker', available: false, reason: 'the daemon does not answer', version: null },
            ],
          }),
        ],
        'no node that matches can use the runner "docker": a: its agent has no such runner, b: the daemon does not answer',
      ],
      [
        'the GPUs are where the runner is not',
        job({ runner: 'docker' }),
        [
          node('a', { total: 8 }),
          node('b', { runners: [{ name: 'docker', available: true, reason: null, version: null }] }),
        ],
        'needs 1 GPU: no online node with the runner "docker" has one; large enough, but without that runner: a: its agent has no such runner',
      ],
      [
        'no cpu-only jobs',
        job({ gpu: 0 }),
        [node('a', { total: 1, max_cpu_jobs: 0 })],
        'no online node takes cpu-only jobs',
      ],
      [
        'backing off',
        job({ attempt: 2, not_before: NOW + 5000 }),
        [node('a', { total: 1 })],
        'attempt 2 waits until 2023-11-14T22:13:25Z (back-off of automatic retries)',
      ],
    ];
    for (const [what, item, nodes, sentence] of cases) {
      it(what, async () => expect(await reasonOf(item, nodes)).to.equal(sentence));
    }

    it('waits out no back-off that was set before the clock was set back', async () => {
      const place = async (not_before: number) =>
        (await plan([job({ not_before })], [node('a', { total: 1 })])).placements;
      expect(await place(NOW + 5 * MINUTE)).to.have.length(0);
      expect(await place(NOW + 5 * MINUTE + 1)).to.have.length(1);
    });

    it('counts the jobs before it, roughly when they are many', async () => {
      const queue = Array.from({ length: 130 }, () => job());
      const { reasons } = await plan(queue, [node('a', { total: 1, free: 0 })]);
      const at = (index: number) => reasons.get(queue[index]!.id);
      expect(at(0)).to.equal('waiting for 1 free GPU');
      expect(at(1)).to.equal('waiting for 1 free GPU behind 1 job');
      expect(at(3)).to.equal('waiting for 1 free GPU behind 3 jobs');
      expect(at(10)).to.equal('waiting for 1 free GPU behind 10 jobs');
      expect(at(11)).to.equal('waiting for 1 free GPU behind more than 10 jobs');
      expect(at(20)).to.equal('waiting for 1 free GPU behind more than 10 jobs');
      expect(at(21)).to.equal('waiting for 1 free GPU behind more than 20 jobs');
      expect(at(100)).to.equal('waiting for 1 free GPU behind more than 90 jobs');
      expect(at(129)).to.equal('waiting for 1 free GPU behind more than 100 jobs');
    });
  });

  describe('never starves a large job', () => {
    const nodes = () => [node('a', { total: 4, free: 2 }), node('b', { total: 4, free: 1 })];

    it('begins to count anew when the clock has been set back', async () => {
      const large = job({ gpu: 4, head_since: NOW + 1 });
      expect((await plan([large], nodes())).newHeads).to.deep.equal([large.id]);
    });

    it('notes since when it is the head', async () => {
      const large = job({ gpu: 4 });
      expect((await plan([large, job({ gpu: 4 })], nodes())).newHeads).to.deep.equal([large.id]);
      expect((await plan([{ ...large, head_since: NOW }], nodes())).newHeads).to.deep.equal([]);
    });

    it('lets smaller jobs pass for 10 minutes', async () => {
      const large = job({ gpu: 4, head_since: NOW - 10 * MINUTE + 1 });
      expect((await plan([large, job(), job(), job()], nodes())).placements).to.have.length(3);
    });

    it('then keeps the node that lacks least for it, and no other', async () => {
      const large = job({ gpu: 4, head_since: NOW - 10 * MINUTE });
      const [small, another] = [job(), job()];
      const result = await plan([large, small, another], nodes());
      expect(placed(result)).to.deep.equal([[small.id, 'b', [0]]]);
      expect(result.reasons.get(another.id)).to.equal('waiting for 1 free GPU behind 1 job');
    });

    it('starts it as soon as the node is free', async () => {
      const large = job({ gpu: 4, head_since: NOW - 11 * MINUTE });
      const result = await plan([large, job()], [node('a', { total: 4 }), node('b', { total: 4, free: 1 })]);
      expect(placed(result)[0]).to.deep.equal([large.id, 'a', [0, 1, 2, 3]]);
    });

    it('keeps nothing from cpu-only jobs', async () => {
      const large = job({ gpu: 4, head_since: NOW - 11 * MINUTE });
      expect(
        (await plan([large, job({ gpu: 0 })], [node('a', { total: 4, free: 3 })])).placements,
      ).to.have.length(1);
    });

    it('has a head for each set of nodes that share nothing', async () => {
      const zones = [
        node('a', { total: 2, free: 1, labels: { zone: 'x' } }),
        node('b', { total: 2, free: 1, labels: { zone: 'y' } }),
      ];
      const [inX, inY] = [
        job({ gpu: 2, node_selector: { zone: 'x' } }),
        job({ gpu: 2, node_selector: { zone: 'y' } }),
      ];
      expect((await plan([inX, inY], zones)).newHeads).to.deep.equal([inX.id, inY.id]);
    });

    it('does not make a job a head that no node could ever run', async () => {
      expect((await plan([job({ gpu: 99 }), job({ gpu: 4 })], nodes())).newHeads).to.have.length(1);
    });
  });

  describe('for any queue and nodes', () => {
    const queues = fc.array(
      fc.record({
        gpu: fc.integer({ min: 0, max: 5 }),
        node_selector: fc.constantFrom({}, { zone: 'x' }, { zone: 'y' }, { gpu_model: 'A100' }),
        runner: fc.constantFrom('process', 'process', 'docker'),
        not_before: fc.constantFrom(null, null, NOW - 1, NOW + 1),
        head_since: fc.constantFrom(null, NOW - 20 * MINUTE),
      }),
      { maxLength: 40 },
    );
    const clusters = fc.array(
      fc.record({
        total: fc.integer({ min: 0, max: 6 }),
        free: fc.integer({ min: 0, max: 6 }),
        zone: fc.constantFrom('x', 'y'),
        model: fc.constantFrom('A100', 'H200'),
        status: fc.constantFrom(
          'ONLINE' as const,
          'ONLINE' as const,
          'DRAINING' as const,
          'OFFLINE' as const,
        ),
        connected: fc.boolean(),
        max_cpu_jobs: fc.integer({ min: 0, max: 3 }),
      }),
      { maxLength: 6 },
    );
    const holds = (
      check: (queue: QueueItem[], nodes: NodeCapacity[], result: PassPlan) => void | Promise<void>,
    ) =>
      fc.assert(
        fc.asyncProperty(queues, clusters, async (items, sketches) => {
          const queue = items.map((item) => job(item));
          const nodes = sketches.map(({ zone, ...sketch }, index) =>
            node(`n${index}`, { ...sketch, labels: { zone } }),
          );
          await check(queue, nodes, await plan(queue, nodes));
        }),
        { numRuns: 300 },
      );

    it('a slot goes to one job at most, and only a free one', () =>
      holds((_queue, nodes, { placements }) => {
        const taken = placements.flatMap((each) =>
          each.gpu_indices.map((index) => `${each.node.id}/${index}`),
        );
        expect(new Set(taken).size).to.equal(taken.length);
        const free = new Set(
          nodes.flatMap(({ id, slots }) =>
            slots.filter((slot) => slot.free).map(({ index }) => `${id}/${index}`),
          ),
        );
        expect(taken.every((slot) => free.has(slot))).to.equal(true);
      }));

    it('every job is either placed as it asked, or has a reason', () =>
      holds((queue, nodes, { placements, reasons }) => {
        for (const item of queue) {
          const mine = placements.filter(({ job_id }) => job_id === item.id);
          expect(mine.length + (reasons.has(item.id) ? 1 : 0)).to.equal(1);
          for (const {
            node: { id },
            gpu_indices,
          } of mine) {
            const where = nodes.find((each) => each.id === id)!;
            expect(gpu_indices).to.have.length(item.gpu);
            expect(where).to.include({ status: 'ONLINE', connected: true });
            expect(item.runner).to.equal('process');
            if (item.node_selector['zone']) expect(where.labels['zone']).to.equal(item.node_selector['zone']);
          }
        }
      }));

    it('no node runs more cpu-only jobs than its cap', () =>
      holds((_queue, nodes, { placements }) => {
        for (const { id, max_cpu_jobs } of nodes) {
          const here = placements.filter((each) => each.node.id === id && each.gpu_indices.length === 0);
          expect(here.length).to.be.at.most(max_cpu_jobs);
        }
      }));

    it('with nobody starving, what is left waiting would not fit into what is left free', () =>
      holds(async (queue, nodes) => {
        const calm = queue.map((item) => ({
          ...item,
          head_since: null,
          node_selector: {},
          runner: 'process',
          not_before: null,
        }));
        const { placements, reasons } = await plan(calm, nodes);
        const left = nodes.map((each) => {
          const taken = placements
            .filter(({ node: { id } }) => id === each.id)
            .flatMap(({ gpu_indices }) => gpu_indices).length;
          return each.connected && each.status === 'ONLINE'
            ? each.slots.filter(({ free }) => free).length - taken
            : 0;
        });
        for (const item of calm)
          if (reasons.has(item.id) && item.gpu > 0) expect(item.gpu).to.be.greaterThan(Math.max(0, ...left));
      }));
  });
});
