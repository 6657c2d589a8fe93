import { JOB_TRIGGERS, isTerminal, newId, nextJobStatus, type Exit, type Job } from '@svc/contract';
import { fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import { Lab } from './support/lab.js';
import { Host } from './support/world.js';

/** How many random sequences; set SVC_RANDOM_RUNS for more. */
const RUNS = Number(process.env['SVC_RANDOM_RUNS'] ?? 3);

/** Random users, hosts and faults; what must hold is checked against what really happened on the hosts. */
describe('whatever happens', () => {
  const SLOTS = [1, 2];
  const exits: Exit[] = [
    { kind: 'exited', code: 0 },
    { kind: 'exited', code: 3 },
    { kind: 'signaled', signal: 'SIGSEGV', code: -11 },
    { kind: 'oom', code: -9 },
  ];
  const host = fc.nat(SLOTS.length - 1);
  const on = <const Act extends string>(...acts: Act[]) => fc.record({ do: fc.constantFrom(...acts), host });
  const steps = fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('submit' as const),
          gpu: fc.nat(2),
          priority: fc.nat(3),
          max_attempts: fc.integer({ min: 1, max: 3 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'retry' as const), nth: fc.nat(60) }),
      },
      { weight: 10, arbitrary: on('read', 'work', 'work', 'work', 'kill') },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('end' as const), host, exit: fc.constantFrom(...exits) }),
      },
      { weight: 4, arbitrary: on('connect', 'connect', 'cut') },
      { weight: 1, arbitrary: on('cut', 'wipe') },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('pass' as const),
          ms: fc.constantFrom(3000, 11_000, 11_000, 100_000, 700_000),
        }),
      },
    ),
    { minLength: 150, maxLength: 200 },
  );
  type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

  let clock: FakeClock;
  let lab: Lab;
  let hosts: Host[];
  let jobs: Job[];

  /** Lets what is under way on sockets and in the database get on. */
  const breathe = async () => {
    for (let turn = 0; turn < 3; turn++) await lab.jobs.countByStatus(lab.kernel.db);
  };

  async function take(step: Step): Promise<void> {
    switch (step.do) {
      case 'submit':
        jobs.push(
          await lab.submit({
            resources: { gpu: step.gpu },
            priority: step.priority,
            max_attempts: step.max_attempts,
          }),
        );
        break;
      case 'cancel':
      case 'retry':
        if (jobs.length > 0)
          await lab.request('POST', `/jobs/${jobs[step.nth % jobs.length]!.id}/${step.do}`);
        break;
      case 'read':
        hosts[step.host]!.readFrames();
        break;
      case 'kill':
        hosts[step.host]!.killStopped();
        break;
      case 'work':
        hosts[step.host]!.readFrames();
        hosts[step.host]!.startOne();
        break;
      case 'end':
        hosts[step.host]!.endOne(step.exit);
        break;
      case 'connect':
        await hosts[step.host]!.connect();
        break;
      case 'cut':
      case 'wipe':
        hosts[step.host]![step.do]();
        break;
      case 'pass':
        await clock.advance(step.ms);
    }
    await breathe();
    checkWorld();
    await checkHolders();
  }

  /** At every moment, in the record: a slot has one holder. */
  async function checkHolders(): Promise<void> {
    const active = await lab.kernel.db('jobs').whereIn('status', ['DISPATCHING', 'RUNNING']);
    const held = (active as { node_id: string; gpu_indices: string }[]).flatMap(({ node_id, gpu_indices }) =>
      (JSON.parse(gpu_indices) as number[]).map((index) => `${node_id}/${index}`),
    );
    expect(new Set(held).size, held.join(' ')).to.equal(held.length);
  }

  /** At every moment. */
  function checkWorld(): void {
    for (const each of hosts) {
      const used = each.gpusInUse();
      expect(new Set(used).size, `GPUs in use on one host: ${used.join()}`).to.equal(used.length);
    }
  }

  /** What observers saw. */
  function checkHistory(): void {
    for (const { id } of jobs) {
      const changes = lab.changes.filter(({ after }) => after.id === id);
      changes.reduce((attempt, { before, after }) => {
        if (!before) return after.attempt;
        const isAllowed = JOB_TRIGGERS.some(
          (trigger) => nextJobStatus(before.status, trigger) === after.status,
        );
        expect(isAllowed, `${before.status} to ${after.status}`).to.equal(true);
        const isRetry = after.status === 'QUEUED' && before.status !== 'DISPATCHING';
        expect(after.attempt).to.equal(isRetry ? attempt + 1 : attempt);
        if (isTerminal(before.status))
          expect(isRetry, `${before.status} was left for ${after.status}`).to.equal(true);
        expect(after.pending_reason !== null, `reason of a ${after.status} job`).to.equal(
          after.status === 'QUEUED',
        );
        return after.attempt;
      }, 0);
    }
  }

  /** Everything that was told as an exit did happen so on a host. */
  async function checkEnds(): Promise<void> {
    const ends = hosts.flatMap(({ ended }) => ended);
    for (const { id } of jobs) {
      for (const { attempt, status, exit_code } of await lab.attempts(id)) {
        if (status !== 'SUCCEEDED' && (status !== 'FAILED' || exit_code === null)) continue;
        const real = ends
          .filter((end) => end.job_id === id && end.attempt === attempt)
          .map(({ exit }) => ('code' in exit ? exit.code : null));
        expect(real, `${status} of attempt ${attempt}`).to.include(exit_code);
      }
    }
  }

  /** With every host back and obedient, everything comes to its end, and no slot is left held. */
  async function bringToAnEnd(): Promise<void> {
    await until(
      async () => {
        for (const each of hosts) {
          await each.connect();
          each.readFrames();
          each.killStopped();
          each.startOne();
          each.endOne({ kind: 'exited', code: 0 });
        }
        await clock.advance(3000);
        await breathe();
        checkWorld();
        const counts = await lab.jobs.countByStatus(lab.kernel.db);
        return counts.QUEUED + counts.DISPATCHING + counts.RUNNING === 0;
      },
      { timeoutMs: 20_000, everyMs: 1 },
    );
    await until(async () => {
      for (const each of hosts) {
        each.readFrames();
        each.killStopped();
      }
      const holdings = await Promise.all(
        hosts.map(({ nodeId }) => lab.nodes.holdings(lab.kernel.db, nodeId)),
      );
      return holdings.flat().length === 0;
    });
  }

  it('no slot has two holders, no job is lost, no end is made up, attempts rise by 1, only a retry leaves an end', async function () {
    this.timeout(RUNS * 60_000);
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        clock = fakeClock();
        lab = await Lab.open({ clock });
        hosts = SLOTS.map((count) => new Host(lab, newId('node'), count));
        jobs = [];
        try {
          for (const each of hosts) await each.connect();
          for (const step of sequence) await take(step);
          await bringToAnEnd();
          checkHistory();
          await checkEnds();
        } finally {
          await Promise.all(hosts.map((each) => each.close()));
          await lab.close();
        }
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  });
});
