import { expect } from 'chai';
import { createDeeds } from './deeds.js';
import { findBreaches, type Evidence } from './invariants.js';
import type { Witness } from './journal.js';
import type { JobRecord } from './record.js';

const NODE = 'node_01';
const WITNESS: Witness = {
  pid: 10,
  job: 'job_01',
  attempt: 1,
  node: NODE,
  gpus: [0],
  role: 'main',
  startedAt: 1000,
  seenAt: 2000,
  end: { code: 0, at: 2000 },
  printed: 2,
  intended: 2,
  logged: 2,
  flushed: 2,
};

/** A job that ran once and well, with all that its process says of itself. */
function createSoundJob(): JobRecord {
  const event = (type: string, data: object) => ({
    type,
    data: { attempt: 1, ...data },
    node_id: NODE,
    created_at: 2100,
  });
  const toLog = (name: string) => `${name} ${NODE} 1 0 \n${name} ${NODE} 1 1 x\n`;
  return {
    submitted: {
      plan: { name: 'job-0', worker: { exit: 0, partial_last_line: false } },
      id: 'job_01',
      cancel: null,
    },
    job: {
      id: 'job_01',
      status: 'SUCCEEDED',
      attempt: 1,
      max_attempts: 2,
      exit_code: 0,
      failure_reason: null,
      node_id: NODE,
    },
    events: [
      event('JOB_QUEUED', {}),
      event('RUN_STARTED', {}),
      event('RUN_FINISHED', { status: 'SUCCEEDED', exit_code: 0, failure_reason: null }),
    ],
    attempts: [
      {
        attempt: 1,
        log: { stdout: toLog('o'), stderr: toLog('e') },
        run: { id: 'run_01', status: 'SUCCEEDED' },
        points: [
          [0, 0],
          [1, 3],
        ],
      },
    ],
  } as unknown as JobRecord;
}

/** Of what `breaks` leaves of the sound evidence. */
function breachesOf(
  breaks: Partial<{
    job: (job: Loose) => void;
    witnesses: Witness[];
    record: object;
    deeds: ReturnType<typeof createDeeds>;
  }>,
): string {
  const job = createSoundJob();
  breaks.job?.(job as Loose);
  const record = { jobs: [job], nodes: [], survivors: [], doubles: [], ...breaks.record };
  const evidence: Evidence = {
    record,
    witnesses: breaks.witnesses ?? [WITNESS],
    deeds: breaks.deeds ?? createDeeds(),
  };
  return findBreaches(evidence).join('\n');
}

/** For breaking it: a record that may be written to. */
type Loose = { -readonly [K in keyof JobRecord]: any }; // eslint-disable-line @typescript-eslint/no-explicit-any

describe('the judge of the fault suite', () => {
  it('finds nothing in sound evidence', () => {
    expect(breachesOf({})).to.equal('');
  });

  it('takes for LOST what a killed shim could not write on a full disk, and nothing else that ended before the kill', () => {
    const lose = ({ job, events }: Loose) => {
      Object.assign(job, { status: 'LOST', exit_code: null, failure_reason: 'LOST', max_attempts: 1 });
      events[2].data = { attempt: 1, status: 'LOST' };
    };
    const deeds = createDeeds();
    deeds.kills.push({ what: 'shim', job: 'job_01', attempt: 1, node: NODE, at: 4000 });
    expect(breachesOf({ job: lose, deeds })).to.contain('is told as LOST');
    deeds.disturbances.push({ kind: 'disk-full', node: NODE, from: 1500, to: 5000 });
    expect(breachesOf({ job: lose, deeds })).to.not.contain('is told as LOST');
  });

  it('takes the end of the present attempt, whatever is told of an earlier one after it', () => {
    const tellLate = ({ events }: Loose) =>
      events.push({ ...events[2], data: { attempt: 0, status: 'LOST', source: 'job' } });
    expect(breachesOf({ job: tellLate })).to.equal('');
  });

  const cases: readonly [string, Parameters<typeof breachesOf>[0], RegExp][] = [
    ['a job that does not end', { job: ({ job }) => (job.status = 'RUNNING') }, /is RUNNING/],
    ['a wrong exit code', { job: ({ job }) => (job.exit_code = 1) }, /told as SUCCEEDED 1/],
    ['a failure that was none', { job: ({ job }) => (job.status = 'FAILED') }, /right is SUCCEEDED 0/],
    [
      'an attempt that was left out',
      { job: ({ job }) => (job.attempt = 2) },
      /was queued as attempts 1, is at 2/,
    ],
    ['a second end', { job: ({ events }) => events.push(events[2]) }, /2 RUN_FINISHED/],
    [
      'a change after the end',
      { job: ({ events }) => events.push({ ...events[0], type: 'JOB_LOST' }) },
      /last event is JOB_LOST/,
    ],
    ['an end that is not told', { job: ({ events }) => events.pop() }, /0 RUN_FINISHED/],
    ['a run left open', { job: ({ attempts }) => (attempts[0].run.status = 'RUNNING') }, /still RUNNING/],
    [
      'a line lost',
      { job: ({ attempts }) => (attempts[0].log.stdout = `o ${NODE} 1 0 \n`) },
      /1 lines in order/,
    ],
    [
      'a line doubled',
      { job: ({ attempts }) => (attempts[0].log.stderr += `e ${NODE} 1 1 x\n`) },
      /stderr goes on with/,
    ],
    [
      'lines out of order',
      { job: ({ attempts }) => (attempts[0].log.stdout = `o ${NODE} 1 1 x\no ${NODE} 1 0 \n`) },
      /0 lines in order/,
    ],
    ['a point lost', { job: ({ attempts }) => attempts[0].points.pop() }, /has 1 points; 2 were logged/],
    ['a point doubled', { job: ({ attempts }) => attempts[0].points.push([1, 3]) }, /point 2 is 1: 3/],
    [
      'a cancel that did not stand',
      { job: ({ submitted }) => (submitted.cancel = 'cancel-requested') },
      /was cancelled, but is told as SUCCEEDED/,
    ],
    [
      'a process that is not in the record',
      { witnesses: [WITNESS, { ...WITNESS, pid: 11, attempt: 2, startedAt: 3000, seenAt: 4000 }] },
      /is not in the record/,
    ],
    [
      'one attempt started twice',
      { witnesses: [WITNESS, { ...WITNESS, pid: 11, startedAt: 3000, seenAt: 4000 }] },
      /started twice/,
    ],
    [
      'two attempts at once',
      {
        witnesses: [
          WITNESS,
          { ...WITNESS, pid: 11, attempt: 2, node: 'node_02', startedAt: 1500, seenAt: 2500 },
        ],
      },
      /ran twice at once/,
    ],
    [
      'a slot held twice',
      { witnesses: [WITNESS, { ...WITNESS, pid: 11, job: 'job_02', startedAt: 1900, seenAt: 2500 }] },
      /a slot was held twice/,
    ],
    [
      'a grandchild that outlives the end',
      { witnesses: [WITNESS, { ...WITNESS, pid: 11, role: 'grandchild', seenAt: 9000 }] },
      /lived on after the end/,
    ],
    [
      'a process left over',
      { record: { survivors: [{ pid: 1, job: 'job_01' }] } },
      /process 1 of job_01 outlives/,
    ],
    ['a submit that made two jobs', { record: { doubles: ['job-0 job_02'] } }, /submitted once, there twice/],
    [
      'a slot that stays busy',
      {
        record: {
          nodes: [
            { name: 'n', cpu_jobs: 0, busy: true, slots: [{ index: 0, busy: true, job_id: 'job_01' }] },
          ],
        },
      },
      /holds slot 0 by job_01/,
    ],
  ];
  for (const [what, breaks, expected] of cases) {
    it(`finds ${what}`, () => {
      expect(breachesOf(breaks)).to.match(expected);
    });
  }
});
