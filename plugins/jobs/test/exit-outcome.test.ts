import { expect } from 'chai';
import { toCancelled, toOutcome, type KnownExit } from '../src/exit-outcome.js';
import { backoffMs, mayRetry } from '../src/retry-policy.js';

describe('how an exit is told', () => {
  const cases: [KnownExit, string, number | null, string | null, string | null][] = [
    [{ kind: 'exited', code: 0 }, 'exited_ok', 0, null, null],
    [{ kind: 'exited', code: 3 }, 'exited_bad', 3, 'EXIT_CODE', 'exited with code 3'],
    [{ kind: 'signaled', signal: 'SIGKILL', code: -9 }, 'exited_bad', -9, 'signal', 'was killed by SIGKILL'],
    [
      { kind: 'signaled', signal: 'SIGTERM', code: -15 },
      'exited_bad',
      -15,
      'signal',
      'was killed by SIGTERM',
    ],
    [{ kind: 'oom', code: -9 }, 'exited_bad', -9, 'OOM', 'ran out of memory and was killed'],
    [
      { kind: 'oom', code: 137 },
      'exited_bad',
      137,
      'OOM',
      'a process of it ran out of memory and was killed',
    ],
    [
      { kind: 'oom', code: 1, evidence: 'MemoryError' },
      'exited_bad',
      1,
      'OOM',
      'ran out of memory: MemoryError',
    ],
    [{ kind: 'oom', code: null }, 'exited_bad', null, 'OOM', 'ran out of memory and was killed'],
    [
      { kind: 'result_invalid', message: '/r.json was not written on gpu-1' },
      'exited_bad',
      0,
      'EVALUATION_RESULT_INVALID',
      'exited with code 0 and left no valid result: /r.json was not written on gpu-1',
    ],
    [
      { kind: 'dispatch_failed', message: 'no such program "trian"' },
      'dispatch_failed',
      null,
      'DISPATCH_FAILED',
      'could not be started on gpu-1: no such program "trian"',
    ],
  ];
  for (const [exit, trigger, exit_code, failure_reason, failure_message] of cases) {
    it(JSON.stringify(exit), () => {
      expect(toOutcome(exit, 'gpu-1')).to.deep.equal({ trigger, exit_code, failure_reason, failure_message });
    });
  }

  it('holds what an agent says to what can be stored', () => {
    expect(toOutcome({ kind: 'exited', code: 2 ** 40 }, 'gpu-1').exit_code).to.equal(2 ** 31 - 1);
    const { failure_message } = toOutcome(
      { kind: 'dispatch_failed', message: `a\u0000b${'x'.repeat(9000)}` },
      'gpu-1',
    );
    expect(failure_message).to.match(/: a b/).and.have.length(4000);
  });

  it('shows -15 for every cancelled job that ran, and says how its process took it', () => {
    const cancelled = { trigger: 'cancelled', exit_code: -15, failure_reason: null };
    expect(toCancelled({ kind: 'signaled', signal: 'SIGTERM', code: -15 })).to.include(cancelled);
    expect(toCancelled({ kind: 'signaled', signal: 'SIGKILL', code: -9 })).to.deep.equal({
      ...cancelled,
      failure_message: 'cancelled; the process was killed by SIGKILL',
    });
    expect(toCancelled({ kind: 'exited', code: 0 }).failure_message).to.equal(
      'cancelled; the process exited with code 0',
    );
  });

  it('shows no exit code for one that never ran', () => {
    expect(toCancelled(null)).to.include({ trigger: 'cancelled', exit_code: null });
    expect(toCancelled({ kind: 'dispatch_failed', message: 'x' })).to.include({ exit_code: null });
  });
});

describe('the retry policy', () => {
  it('never retries OOM, EXIT_CODE and DISPATCH_FAILED by itself', () => {
    const fresh = { attempt: 1, max_attempts: 5 };
    for (const reason of ['OOM', 'EXIT_CODE', 'DISPATCH_FAILED'] as const)
      expect(mayRetry(fresh, reason)).to.equal(false);
    for (const reason of ['LOST', 'signal'] as const) expect(mayRetry(fresh, reason)).to.equal(true);
    expect(mayRetry(fresh, null)).to.equal(false);
  });

  it('stops at max_attempts', () => {
    expect(mayRetry({ attempt: 2, max_attempts: 3 }, 'LOST')).to.equal(true);
    expect(mayRetry({ attempt: 3, max_attempts: 3 }, 'LOST')).to.equal(false);
    expect(mayRetry({ attempt: 7, max_attempts: 3 }, 'LOST')).to.equal(false);
  });

  it('waits 5 s, doubling up to 5 min', () => {
    const waits = [1, 2, 3, 6, 7, 50].map((attempt) => backoffMs(attempt, { firstMs: 5000, maxMs: 300_000 }));
    expect(waits).to.deep.equal([5000, 10_000, 20_000, 160_000, 300_000, 300_000]);
  });
});
