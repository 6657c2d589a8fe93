import type { Exit } from '@svc/contract';
import { expect } from 'chai';
import { toEnded, withoutTime } from '../../src/core/attempt-end.js';

const EXITS: readonly Exit[] = [
  { kind: 'exited', code: 3 },
  { kind: 'signaled', signal: 'SIGTERM', code: -15 },
  { kind: 'oom', code: null },
  { kind: 'oom', code: -9 },
  { kind: 'result_invalid', message: 'eval_result.json was not written' },
  { kind: 'dispatch_failed', message: 'no such program' },
  { kind: 'lost', reason: 'host rebooted' },
];

describe('agent: exit.json', () => {
  for (const exit of EXITS) {
    it(`is read as it was written: ${JSON.stringify(exit)}`, () => {
      const ended = toEnded({ ...exit, finished_at: 5 });
      expect(ended).to.deep.equal({ ...exit, finished_at: 5 });
      expect(ended && withoutTime(ended)).to.deep.equal(exit);
    });

    it(`is nothing without its fields: ${JSON.stringify(exit)}`, () => {
      expect(toEnded(exit)).to.equal(null);
      for (const field of Object.keys(exit)) {
        const { [field as 'kind']: _, ...rest } = { ...exit, finished_at: 5 };
        expect(toEnded(rest), field).to.equal(null);
      }
    });
  }

  it('keeps the evidence of an oom, if there is any', () => {
    const oom = { kind: 'oom', code: 1, finished_at: 5 };
    expect(toEnded({ ...oom, evidence: 'MemoryError' })).to.deep.equal({ ...oom, evidence: 'MemoryError' });
    expect(toEnded({ ...oom, evidence: 3 })).to.deep.equal(oom);
  });

  it('keeps nothing that is not of an end, for the server takes no field that it does not know', () => {
    expect(toEnded({ kind: 'exited', code: 0, finished_at: 5, note: 'by hand' })).to.deep.equal({
      kind: 'exited',
      code: 0,
      finished_at: 5,
    });
  });

  it('is nothing when it holds something else', () => {
    for (const json of [null, 1, 'x', [], {}, { kind: 'party', finished_at: 5 }])
      expect(toEnded(json)).to.equal(null);
  });
});
