import { RUN_STATUSES, type RunStatus } from '@svc/contract';
import { expect } from 'chai';
import { atSign, inSilence, type Life } from '../src/life.js';

const SEEN = 1_000;
const LOST_AFTER = 600;

/** What becomes of a run without a job, by state: `-` where nothing changes. */
const TABLE: Record<RunStatus, { sign: string; half: string; whole: string }> = {
  RUNNING: { sign: 'RUNNING', half: 'RUNNING stale', whole: 'LOST' },
  LOST: { sign: 'RUNNING', half: '-', whole: '-' },
  SUCCEEDED: { sign: '-', half: '-', whole: '-' },
  FAILED: { sign: '-', half: '-', whole: '-' },
  CANCELLED: { sign: '-', half: '-', whole: '-' },
  IMPORTED: { sign: '-', half: '-', whole: '-' },
};

describe('the life of a run without a job', () => {
  const life = (status: RunStatus, changes: Partial<Life> = {}): Life => ({
    status,
    seen_at: SEEN,
    stale_since: null,
    finished_at: status === 'RUNNING' ? null : SEEN,
    ...changes,
  });
  const told = (before: Life, change: Partial<Life> | null) => {
    if (!change) return '-';
    const { status, stale_since } = { ...before, ...change };
    return stale_since === null ? status : `${status} stale`;
  };

  for (const status of RUN_STATUSES) {
    it(`${status}: a sign, half the silence, all of it`, () => {
      const before = life(status);
      expect({
        sign: told(before, atSign(before, 9_000)),
        half: told(before, inSilence(before, LOST_AFTER / 2, LOST_AFTER)),
        whole: told(before, inSilence(before, LOST_AFTER, LOST_AFTER)),
      }).to.deep.equal(TABLE[status]);
      expect(inSilence(before, LOST_AFTER / 2 - 1, LOST_AFTER)).to.equal(null);
    });
  }

  it('has ended with its last sign when it is LOST, and not at all when it is found', () => {
    const stale = life('RUNNING', { stale_since: SEEN });
    expect(inSilence(stale, LOST_AFTER - 1, LOST_AFTER), 'told once').to.equal(null);
    expect(inSilence(stale, LOST_AFTER, LOST_AFTER)).to.deep.equal({
      status: 'LOST',
      finished_at: SEEN,
      stale_since: null,
    });
    expect(atSign(life('LOST'), 9_000)).to.include({ finished_at: null, seen_at: 9_000 });
    expect(atSign(stale, 9_000)).to.deep.equal({ seen_at: 9_000, stale_since: null });
  });

  it('is that of its job when it has one', () => {
    expect(inSilence(life('RUNNING', { seen_at: null }), 1e12, LOST_AFTER)).to.equal(null);
  });
});
