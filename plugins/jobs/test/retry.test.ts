import type { Exit } from '@svc/contract';
import { fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { EXIT_OK, Lab } from './support/lab.js';

describe('retrying a job', () => {
  let clock: FakeClock;
  let lab: Lab;
  const retry = (id: string) => lab.request('POST', `/jobs/${id}/retry`);
  /** A pass while the clock moves counts as a long one: the next one waits for a while, and then for the clock to move on. */
  const soon = (holds: () => boolean | Promise<boolean>) =>
    until(async () => {
      await clock.advance(100);
      return holds();
    });
  const SIGSEGV: Exit = { kind: 'signaled', signal: 'SIGSEGV', code: -11 };

  beforeEach(async () => {
    clock = fakeClock();
    lab = await Lab.open({ clock });
  });
  afterEach(() => lab.close());

  it('by hand: the attempt rises by exactly 1, the record starts anew, and JOB_QUEUED fires again', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    for (const [attempt, exit, status] of [
      [1, EXIT_OK, 'SUCCEEDED'],
      [2, { kind: 'exited', code: 2 }, 'FAILED'],
    ] as const) {
      agent.ended(await agent.start({ attempt }), exit);
      await lab.reach(job.id, status);
      const { status: code, body } = await retry(job.id);
      expect(code).to.equal(200);
      expect(body).to.deep.include({
        status: 'QUEUED',
        attempt: attempt + 1,
        exit_code: null,
        failure_reason: null,
        failure_message: null,
        run_id: null,
        node_id: null,
        gpu_indices: [],
        dispatched_at: null,
        started_at: null,
        finished_at: null,
      });
      expect(body.pending_reason).to.be.a('string');
    }
    expect(
      (await lab.events(job, 'JOB_QUEUED')).map(({ data }) => (data as { attempt: number }).attempt),
    ).to.deep.equal([1, 2, 3]);
  });

  it('a CANCELLED job is not cancelled any more afterwards', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const first = await agent.start();
    await lab.reach(job.id, 'RUNNING');
    await lab.request('POST', `/jobs/${job.id}/cancel`);
    agent.ended(first, { kind: 'signaled', signal: 'SIGTERM', code: -15 });
    await lab.reach(job.id, 'CANCELLED');
    await retry(job.id);
    agent.ended(await agent.start({ attempt: 2 }), EXIT_OK);
    await lab.reach(job.id, 'SUCCEEDED');
  });

  it('QUEUED, DISPATCHING and RUNNING are refused with 409', async () => {
    const queued = await lab.submit();
    expect((await retry(queued.id)).status).to.equal(409);
    const agent = await lab.agent();
    const dispatch = await agent.take('dispatch');
    expect((await retry(queued.id)).status).to.equal(409);
    agent.running(dispatch);
    await lab.reach(queued.id, 'RUNNING');
    const answer = await retry(queued.id);
    expect(answer.status).to.equal(409);
    expect(answer.body.error.message).to.contain('is RUNNING');
    expect((await lab.job(queued.id)).attempt).to.equal(1);
  });

  it('by itself after a signal, with a back-off that the reason tells', async () => {
    const agent = await lab.agent();
    const job = await lab.submit({ max_attempts: 3 });
    agent.ended(await agent.start(), SIGSEGV);
    const queued = await lab.reach(job.id, 'QUEUED');
    expect(queued.attempt).to.equal(2);
    const until5s = new Date(queued.queued_at + 5000).toISOString().replace(/\.\d+Z/, 'Z');
    await until(async () => (await lab.job(job.id)).pending_reason?.includes(`waits until ${until5s}`));
    const [, again] = await lab.events(job, 'JOB_QUEUED');
    expect(again?.message).to.equal('attempt 2 of 3 after signal: was killed by SIGSEGV');

    await clock.advance(4_000);
    expect((await lab.job(job.id)).status).to.equal('QUEUED');
    await soon(() => agent.count('dispatch') === 2);
    agent.ended(await agent.start({ attempt: 2 }), SIGSEGV);
    await soon(async () => (await lab.job(job.id)).attempt === 3);
    await clock.advance(9_000);
    expect((await lab.job(job.id)).status).to.equal('QUEUED');
    await soon(() => agent.count('dispatch') === 3);
    agent.ended(await agent.start({ attempt: 3 }), SIGSEGV);
    await lab.reach(job.id, 'FAILED');
    await clock.advance(600_000);
    expect(await lab.job(job.id)).to.include({ status: 'FAILED', attempt: 3, failure_reason: 'signal' });
  });

  const never: Exit[] = [
    { kind: 'exited', code: 1 },
    { kind: 'oom', code: -9 },
    { kind: 'dispatch_failed', message: 'no such program' },
  ];
  for (const exit of never) {
    it(`never by itself after ${exit.kind}`, async () => {
      const agent = await lab.agent();
      const job = await lab.submit({ max_attempts: 5 });
      agent.ended(await agent.take('dispatch'), exit);
      await lab.reach(job.id, 'FAILED');
      await clock.advance(600_000);
      expect(await lab.job(job.id)).to.include({ status: 'FAILED', attempt: 1 });
    });
  }

  it('of a LOST job does not wait longer because the clock was set back', async () => {
    const agent = await lab.agent();
    const job = await lab.submit({ max_attempts: 2 });
    await agent.start();
    await lab.reach(job.id, 'RUNNING');
    agent.cut();
    await until(async () => {
      await clock.advance(5000);
      return (await lab.job(job.id)).status === 'LOST';
    });
    const setBackMs = 3 * 3_600_000;
    await lab.kernel.db('jobs').update({ retry_at: clock.now() + setBackMs });
    await clock.advance(2000);
    expect(await lab.reach(job.id, 'QUEUED')).to.include({ attempt: 2 });
  });

  it('begins with a fresh place in the queue: what it waited at its head before counts no more', async () => {
    const job = await lab.submit();
    await lab.kernel.db('jobs').update({ head_since: clock.now() });
    await lab.request('POST', `/jobs/${job.id}/cancel`);
    await retry(job.id);
    expect((await lab.kernel.db('jobs').first()).head_since).to.equal(null);
  });

  it('by hand does not wait', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    agent.ended(await agent.start(), SIGSEGV);
    await lab.reach(job.id, 'FAILED');
    await retry(job.id);
    await agent.take('dispatch', { attempt: 2 });
  });
});
