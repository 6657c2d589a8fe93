import {
  JOB_STATUSES,
  JOB_TRIGGERS,
  isTerminal,
  nextJobStatus,
  type AttemptKey,
  type Exit,
  type JobStatus,
} from '@svc/contract';
import { expect } from 'chai';
import fc from 'fast-check';
import { EXIT_OK, KILLED, type FakeAgent } from '../../plugins/jobs/test/support/lab.js';
import { onClock, type ClockStage } from '../support/state-stage.js';

const SIGSEGV: Exit = { kind: 'signaled', signal: 'SIGSEGV', code: -11 };
const FAILED: Exit = { kind: 'exited', code: 1 };

/** Everything that an agent can say of an attempt. */
const FRAMES = {
  accepted: (agent: FakeAgent, key: AttemptKey) => agent.accept(key),
  running: (agent: FakeAgent, key: AttemptKey) => agent.running(key),
  'ended with 0': (agent: FakeAgent, key: AttemptKey) => agent.ended(key, EXIT_OK),
  'ended by a signal': (agent: FakeAgent, key: AttemptKey) => agent.ended(key, SIGSEGV),
  'out of memory': (agent: FakeAgent, key: AttemptKey) => agent.ended(key, { kind: 'oom', code: -9 }),
  'result invalid': (agent: FakeAgent, key: AttemptKey) =>
    agent.ended(key, { kind: 'result_invalid', message: 'late' }),
  'dispatch failed': (agent: FakeAgent, key: AttemptKey) =>
    agent.ended(key, { kind: 'dispatch_failed', message: 'late' }),
  lost: (agent: FakeAgent, key: AttemptKey) => agent.ended(key, { kind: 'lost', reason: 'late' }),
} as const;
type FrameName = keyof typeof FRAMES;
const ALL = Object.keys(FRAMES) as FrameName[];

/** What changes nothing when the agent of the present attempt says it: everything, once the job has ended. */
const LATE: Readonly<Record<JobStatus, readonly FrameName[]>> = {
  QUEUED: [],
  DISPATCHING: [],
  RUNNING: ['accepted', 'running'],
  SUCCEEDED: ALL,
  FAILED: ALL,
  CANCELLED: ALL,
  LOST: [],
};

/** A job in that state, and the agent that has, or had, its attempt. */
async function bring(status: JobStatus, { lab, passUntil, run }: ClockStage) {
  const agent = await lab.agent();
  if (status === 'QUEUED') return { agent, job: await lab.submit({ resources: { gpu: 9 } }) };
  if (status === 'DISPATCHING') {
    const job = await lab.submit();
    await agent.take('dispatch');
    return { agent, job: await lab.reach(job.id, status) };
  }
  const { job, dispatch } = await run(agent, { max_attempts: 5 });
  if (status === 'SUCCEEDED') agent.ended(dispatch, EXIT_OK);
  if (status === 'FAILED') agent.ended(dispatch, FAILED);
  if (status === 'CANCELLED') {
    await lab.request('POST', `/jobs/${job.id}/cancel`);
    agent.ended(dispatch, KILLED);
  }
  if (status === 'LOST') {
    agent.cut();
    await passUntil(job, 'LOST');
    // What it says when it is back is news, in every case.
    return { agent: null, job };
  }
  return { agent, job: await lab.reach(job.id, status) };
}

/** What must stay as it is. Why a job waits is told anew at each pass. */
async function read({ lab }: ClockStage, { id }: { readonly id: string }) {
  const known = await lab.job(id);
  const { pending_reason: _, ...job } = known;
  const attempts = await lab.attempts(id);
  const nodes = await lab.nodes.capacity(lab.kernel.db);
  const slots = await Promise.all(nodes.map((node) => lab.nodes.holdings(lab.kernel.db, node.id)));
  return { job, attempts, slots, events: (await lab.events(known)).length };
}

/** Resolves once everything that the agent has said of the job before has been dealt with. */
async function settle(agent: FakeAgent, { id }: { readonly id: string }): Promise<void> {
  const barrier = { job_id: id, attempt: 1_000_000 };
  agent.ended(barrier, { kind: 'lost', reason: 'barrier' });
  await agent.take('forget', barrier);
}

describe('every other transition', function () {
  this.timeout(120_000);

  for (const status of JOB_STATUSES) {
    it(`of a ${status} job: nothing is changed by frames that come late, of another attempt, or from another node`, () =>
      onClock(async (stage) => {
        const { agent, job } = await bring(status, stage);
        const other = await stage.lab.agent({ name: 'other', slots: [] });
        const before = await read(stage, job);
        const key = { job_id: job.id, attempt: job.attempt };
        const late: [FakeAgent, AttemptKey, readonly FrameName[]][] = [
          [other, key, ALL],
          [other, { ...key, attempt: 7 }, ALL],
        ];
        if (agent !== null) late.push([agent, { ...key, attempt: 7 }, ALL], [agent, key, LATE[status]]);
        for (const [speaker, about, names] of late) {
          for (const name of names) {
            FRAMES[name](speaker, about);
            await settle(speaker, job);
            expect(await read(stage, job), name).to.deep.equal(before);
          }
        }
      })());
  }

  const refusals: readonly (readonly [JobStatus, 'cancel' | 'retry'])[] = [
    ['SUCCEEDED', 'cancel'],
    ['FAILED', 'cancel'],
    ['QUEUED', 'retry'],
    ['DISPATCHING', 'retry'],
    ['RUNNING', 'retry'],
  ];
  for (const [status, action] of refusals) {
    it(`${action} of a ${status} job is refused with 409`, () =>
      onClock(async (stage) => {
        const { job } = await bring(status, stage);
        const before = await read(stage, job);
        const answer = await stage.lab.request('POST', `/jobs/${job.id}/${action}`);
        expect([answer.status, answer.body.error.code]).to.deep.equal([409, 'conflict']);
        expect(answer.body.error.message).to.contain(status);
        expect(answer.body.error.details).to.deep.equal({ status });
        expect(await read(stage, job)).to.deep.equal(before);
      })());
  }

  it('cancel of a CANCELLED job says so again and changes nothing', () =>
    onClock(async (stage) => {
      const { job } = await bring('CANCELLED', stage);
      const before = await read(stage, job);
      const answer = await stage.lab.request('POST', `/jobs/${job.id}/cancel`);
      expect([answer.status, answer.body.result]).to.deep.equal([200, 'CANCELLED']);
      expect(await read(stage, job)).to.deep.equal(before);
    })());

  it('is refused by the table whatever came before: only retry leaves an end, and raises the attempt', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...JOB_TRIGGERS), { maxLength: 200 }), (triggers) => {
        let [status, attempt]: [JobStatus, number] = ['QUEUED', 1];
        let retries = 0;
        for (const trigger of triggers) {
          const next = nextJobStatus(status, trigger);
          if (next === null) continue;
          if (isTerminal(status)) expect(trigger).to.equal('retry');
          if (trigger === 'retry') [attempt, retries] = [attempt + 1, retries + 1];
          status = next;
        }
        expect(attempt).to.equal(1 + retries);
        expect(JOB_STATUSES).to.include(status);
      }),
    );
  });
});
