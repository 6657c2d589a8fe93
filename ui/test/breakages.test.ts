import type { EventRecord } from '@svc/contract';
import { expect } from 'chai';
import { countBreakages, tellsOfBreakage, toBreakages } from '../src/data/breakages.js';

let next = 0;
const event = (type: string, at: number, changes: Partial<EventRecord> = {}): EventRecord => ({
  id: `evt_${++next}`,
  type,
  severity: 'warning',
  title: type,
  message: '',
  run_id: null,
  job_id: 'job_1',
  node_id: null,
  data: {},
  created_at: at,
  ...changes,
});
const ended = (status: string, at: number, changes: Partial<EventRecord> = {}) =>
  event('RUN_FINISHED', at, { data: { status }, ...changes });
const critical = (at: number, changes: Partial<EventRecord> = {}) =>
  event('OOM', at, { severity: 'critical', ...changes });
const kinds = (events: EventRecord[], since = 0) =>
  toBreakages(events, since).map(({ kind, event: { created_at: at }, also }) => [kind, at, also.length]);

describe('what broke', () => {
  const cases: [what: string, events: EventRecord[], kinds: unknown[]][] = [
    ['a job that failed', [ended('FAILED', 5)], [['FAILED', 5, 0]]],
    [
      'a run and its job as one',
      [ended('FAILED', 4, { run_id: 'run_1' }), ended('FAILED', 5)],
      [['FAILED', 5, 0]],
    ],
    ['a failure with the critical events of the job', [critical(3), ended('FAILED', 5)], [['FAILED', 5, 1]]],
    ['a job that was lost', [event('JOB_LOST', 5)], [['LOST', 5, 0]]],
    [
      'a run without a job that was lost',
      [event('RUN_LOST', 5, { job_id: null, run_id: 'run_1' })],
      [['LOST', 5, 0]],
    ],
    ['no job that was found again', [event('JOB_LOST', 5), event('JOB_FOUND', 6)], []],
    ['no job that was lost and ended well', [event('JOB_LOST', 5), ended('SUCCEEDED', 6)], []],
    ['a job that was found and lost again', [event('JOB_FOUND', 6), event('JOB_LOST', 7)], [['LOST', 7, 0]]],
    ['no job that was cancelled', [ended('CANCELLED', 5)], []],
    ['a critical event of a job that goes on', [critical(5), critical(4)], [['critical', 5, 1]]],
    [
      'each critical event of no job or run',
      [critical(5, { job_id: null }), critical(4, { job_id: null })],
      [
        ['critical', 5, 0],
        ['critical', 4, 0],
      ],
    ],
    [
      'several jobs, newest first',
      [ended('FAILED', 5), ended('FAILED', 9, { job_id: 'job_2' })],
      [
        ['FAILED', 9, 0],
        ['FAILED', 5, 0],
      ],
    ],
  ];
  for (const [what, events, wanted] of cases) {
    it(`is ${what}`, () => {
      expect(kinds(events)).to.deep.equal(wanted);
      expect(kinds([...events].reverse()), 'in any order').to.deep.equal(wanted);
      expect(kinds([...events, ...events]), 'told twice').to.deep.equal(wanted);
    });
  }

  it('is only what happened after the last visit', () => {
    expect(kinds([ended('FAILED', 5), ended('FAILED', 9, { job_id: 'job_2' })], 5)).to.deep.equal([
      ['FAILED', 9, 0],
    ]);
  });

  it('is counted by kind', () => {
    const broken = toBreakages(
      [ended('FAILED', 5), event('JOB_LOST', 4, { job_id: 'job_2' }), critical(3, { job_id: null })],
      0,
    );
    expect(countBreakages(broken)).to.equal('1 failed, 1 lost, 1 critical event');
    expect(countBreakages(broken.slice(0, 1))).to.equal('1 failed');
    const ofRuns = [1, 2, 3, 4].map((at) =>
      critical(at, { job_id: null, run_id: at === 1 ? 'run_1' : 'run_2' }),
    );
    expect(countBreakages(toBreakages(ofRuns, 0))).to.equal('4 critical events in 2 runs');
    expect(countBreakages(toBreakages(ofRuns.slice(0, 2), 0))).to.equal('2 critical events');
  });

  it('is told by some events alone', () => {
    expect(tellsOfBreakage(critical(1))).to.equal(true);
    expect(tellsOfBreakage(event('JOB_FOUND', 1, { severity: 'info' }))).to.equal(true);
    expect(tellsOfBreakage(event('CHECKPOINT_CREATED', 1, { severity: 'info' }))).to.equal(false);
    expect(tellsOfBreakage(event('LOSS_SPIKE', 1))).to.equal(false);
  });
});
