import type { Job } from '@svc/contract';
import { expect } from 'chai';
import { toTimeline, toTimelineAttempt } from '../src/data/job-timeline.js';
import { attempt, event, job } from './browser/harness/records.js';

const BASE = { queued_at: 100, dispatched_at: null, started_at: null, finished_at: null };

describe('the timeline of an attempt', () => {
  const cases: [string, Partial<Job>, string[]][] = [
    ['that waits', { ...BASE, status: 'QUEUED' }, ['Queued 100- now']],
    [
      'that is being started',
      { ...BASE, status: 'DISPATCHING', dispatched_at: 200 },
      ['Queued 100-200', 'Assigned 200- now'],
    ],
    [
      'that runs',
      { ...BASE, status: 'RUNNING', dispatched_at: 200, started_at: 300 },
      ['Queued 100-200', 'Assigned 200-300', 'Running 300- now'],
    ],
    [
      'that succeeded',
      { ...BASE, status: 'SUCCEEDED', dispatched_at: 200, started_at: 300, finished_at: 400 },
      ['Queued 100-200', 'Assigned 200-300', 'Running 300-400', 'Succeeded 400-'],
    ],
    [
      'that was cancelled in the queue',
      { ...BASE, status: 'CANCELLED', finished_at: 150 },
      ['Queued 100-150', 'Cancelled 150-'],
    ],
    [
      'that is lost, nobody knows since when',
      { ...BASE, status: 'LOST', dispatched_at: 200, started_at: 300 },
      ['Queued 100-200', 'Assigned 200-300', 'Running 300-', 'Lost -'],
    ],
  ];
  for (const [what, changes, wanted] of cases) {
    it(`of one ${what}`, () => {
      const steps = toTimeline(job(1, changes));
      expect(
        steps.map(({ title, from, to, isNow }) => `${title} ${from ?? ''}-${to ?? ''}${isNow ? ' now' : ''}`),
      ).to.deep.equal(wanted);
    });
  }

  it('of an earlier one has what its record and its event say', () => {
    const now = job(1, { attempt: 3 });
    const queued = [event(1, { type: 'JOB_QUEUED', data: { attempt: 2 }, created_at: 50 })];
    const records = [attempt(2, { started_at: 60, finished_at: 90 })];
    expect(toTimelineAttempt(now, 2, records, queued)).to.include({
      queued_at: 50,
      started_at: 60,
      dispatched_at: null,
    });
    expect(toTimelineAttempt(now, 2, records, [])).to.include({ queued_at: null });
    expect(toTimelineAttempt(now, 1, records, queued)).to.equal(null);
    expect(toTimelineAttempt(now, 3, records, queued)).to.equal(now);
  });
});
