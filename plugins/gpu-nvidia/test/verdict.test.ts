import { expect } from 'chai';
import { judge, type SeenProcess, type Sight } from '../src/agent/verdict.js';

const LIMITS = { foreign: 'skip', foreignMb: 100, unexplainedMb: 1024 } as const;
const process = (changes: Partial<SeenProcess> = {}): SeenProcess => ({
  pid: 4711,
  user: 'alice',
  name: 'python',
  memoryMb: 10_240,
  isGraphics: false,
  job: null,
  ...changes,
});
const sight = (changes: Partial<Sight> = {}): Sight => ({
  trouble: null,
  processes: [],
  usedMb: 4,
  holder: null,
  leftBy: null,
  ...changes,
});
const on = (one: Partial<SeenProcess>, changes: Partial<Sight> = {}) => {
  const seen = process(one);
  return sight({ processes: [seen], usedMb: (seen.memoryMb ?? 0) + 4, ...changes });
};

describe('gpu-nvidia: the health of a slot', () => {
  const cases: [what: string, given: Sight, state: string, reason: string | null][] = [
    ['nothing is on it', sight(), 'ok', null],
    ['its figures are not told', sight({ usedMb: null }), 'ok', null],
    ['it is in trouble, whoever is on it', on({}, { trouble: 'is lost' }), 'unhealthy', 'is lost'],
    [
      'a process of no job is on it',
      on({}),
      'foreign',
      'is used by python (pid 4711, alice, 10 GiB), which is not a job of svc',
    ],
    [
      'a process of no job is beside that of its holder',
      on({}, { holder: 'job_a' }),
      'foreign',
      'is used by python (pid 4711, alice, 10 GiB), which is not a job of svc',
    ],
    [
      'a process that nobody can look into is on it',
      on({ job: undefined, user: null, name: '' }),
      'foreign',
      'is used by a process (pid 4711, 10 GiB), which is not a job of svc',
    ],
    ['its holder is on it', on({ job: 'job_a' }, { holder: 'job_a' }), 'ok', null],
    [
      'a process that nobody can look into is on it, and it is held',
      on({ job: undefined }, { holder: 'job_a' }),
      'ok',
      null,
    ],
    [
      'another job is on it',
      on({ job: 'job_b' }, { holder: 'job_a' }),
      'foreign',
      'is used by python (pid 4711, alice, 10 GiB), of a job that does not hold it',
    ],
    ['a display server is on it', on({ isGraphics: true, memoryMb: 2000 }), 'ok', null],
    ['a process of little memory is on it', on({ memoryMb: 61 }), 'ok', null],
    [
      'a process computes on it, and its memory is not told',
      on({ memoryMb: null }),
      'foreign',
      'is used by python (pid 4711, alice), which is not a job of svc',
    ],
    [
      'a job that has ended is still on it',
      on({ job: 'job_a' }, { leftBy: 'job_a' }),
      'quarantined',
      'is still used by python (pid 4711, alice, 10 GiB) of job_a, which does not hold it',
    ],
    [
      'a job is on it that an agent before this one had',
      on({ job: 'job_a' }),
      'quarantined',
      'is still used by python (pid 4711, alice, 10 GiB) of job_a, which does not hold it',
    ],
    [
      'a job that has ended left something of little memory',
      on({ job: 'job_a', memoryMb: 3 }),
      'quarantined',
      'is still used by python (pid 4711, alice, 3 MiB) of job_a, which does not hold it',
    ],
    [
      'a process that nobody can look into stayed behind',
      on({ job: undefined }, { leftBy: 'job_a' }),
      'quarantined',
      'is still used by python (pid 4711, alice, 10 GiB) of job_a, which does not hold it',
    ],
    [
      'memory stayed behind',
      sight({ usedMb: 30_720, leftBy: 'job_a' }),
      'quarantined',
      'still has 30 GiB of its memory in use by no process that can be seen, since job_a ended',
    ],
    [
      'memory is in use by nobody',
      sight({ usedMb: 30_720 }),
      'foreign',
      'has 30 GiB of its memory in use by no process that can be seen',
    ],
    ['the driver has its share', sight({ usedMb: 640, leftBy: 'job_a' }), 'ok', null],
    [
      'others explain its memory',
      on({ isGraphics: true, memoryMb: 30_000 }, { leftBy: 'job_a' }),
      'ok',
      null,
    ],
    ['memory is in use while it is held', sight({ usedMb: 30_720, holder: 'job_a' }), 'ok', null],
  ];
  for (const [what, given, state, reason] of cases)
    it(`is ${state} when ${what}`, () => {
      expect(judge(given, LIMITS)).to.include({ state, reason });
    });

  it('names two processes, and counts the others', () => {
    const processes = [1, 2, 3, 4].map((pid) => process({ pid, memoryMb: 200 }));
    expect(judge(sight({ processes, usedMb: 804 }), LIMITS).reason).to.equal(
      'is used by python (pid 1, alice, 200 MiB) and python (pid 2, alice, 200 MiB) and 2 more, which are not jobs of svc',
    );
  });

  it('takes no notice of what is foreign where that is wanted, but of what a job left', () => {
    const ignoring = { ...LIMITS, foreign: 'ignore' } as const;
    expect(judge(on({}), ignoring).state).to.equal('ok');
    expect(judge(sight({ usedMb: 30_720 }), ignoring).state).to.equal('ok');
    expect(judge(on({ job: 'job_a' }), ignoring).state).to.equal('quarantined');
    expect(judge(sight({ usedMb: 30_720, leftBy: 'job_a' }), ignoring).state).to.equal('quarantined');
  });

  it('is the same while only the memory changes', () => {
    const kind = (given: Sight) => judge(given, LIMITS).kind;
    expect(kind(on({ memoryMb: 9000 }))).to.equal(kind(on({ memoryMb: 20_000 })));
    expect(kind(sight({ usedMb: 9000 }))).to.equal(kind(sight({ usedMb: 20_000 })));
    expect(kind(on({}))).not.to.equal(kind(on({ pid: 4712 })));
  });
});
