import type { Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { attemptPrepare } from '../src/hooks.js';
import { EXIT_OK, KILLED, Lab, tapping, toReport } from './support/lab.js';

describe('cancelling a job', () => {
  let lab: Lab;
  let gate: Promise<void> = Promise.resolve();
  const slow = tapping('slow', (ctx) => {
    ctx.tap(attemptPrepare, async (plan) => {
      await gate;
      return plan;
    });
  });
  const cancel = (job: Job) => lab.request('POST', `/jobs/${job.id}/cancel`);

  beforeEach(async () => {
    gate = Promise.resolve();
    lab = await Lab.open({ plugins: [slow] });
  });
  afterEach(() => lab.close());

  it('QUEUED: at once', async () => {
    const job = await lab.submit();
    const answer = await cancel(job);
    expect(answer.body).to.deep.equal({ job_id: job.id, result: 'CANCELLED', kill_grace_s: null });
    expect(await lab.job(job.id)).to.include({
      status: 'CANCELLED',
      exit_code: null,
      pending_reason: null,
    });
    expect((await lab.events(job, 'RUN_FINISHED'))[0]).to.include({
      severity: 'warning',
      title: 'Job train cancelled',
    });
    await lab.agent();
    expect((await lab.job(job.id)).status).to.equal('CANCELLED');
  });

  it('RUNNING: asks the agent; the end is -15, and RUN_FINISHED fires as a warning', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await agent.start();
    await lab.reach(job.id, 'RUNNING');
    expect((await cancel(job)).body).to.include({ result: 'cancel-requested', kill_grace_s: 10 });
    expect(await agent.take('stop')).to.deep.equal({
      type: 'stop',
      job_id: job.id,
      attempt: 1,
      grace_ms: 10_000,
    });
    expect((await lab.job(job.id)).status).to.equal('RUNNING');
    agent.ended(dispatch, KILLED);
    await agent.take('forget');
    expect(await lab.job(job.id)).to.include({ status: 'CANCELLED', exit_code: -15, failure_reason: null });
    expect((await lab.events(job, 'RUN_FINISHED'))[0]).to.include({ severity: 'warning' });
    expect(await lab.slots(agent)).to.deep.equal([null]);
  });

  it('shows -15 too when it took SIGKILL, and says so', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await agent.start();
    await lab.reach(job.id, 'RUNNING');
    await cancel(job);
    agent.ended(dispatch, { kind: 'signaled', signal: 'SIGKILL', code: -9 });
    expect(await lab.reach(job.id, 'CANCELLED')).to.include({
      exit_code: -15,
      failure_message: 'cancelled; the process was killed by SIGKILL',
    });
  });

  it('is carried out once, however often it is asked for, and never overwritten by a late exit', async () => {
    const agent = await lab.agent();
    const job = await lab.submit({ max_attempts: 5 });
    const dispatch = await agent.start();
    await lab.reach(job.id, 'RUNNING');
    expect((await cancel(job)).body.result).to.equal('cancel-requested');
    expect((await cancel(job)).body.result).to.equal('cancel-requested');
    agent.ended(dispatch, KILLED);
    await lab.reach(job.id, 'CANCELLED');
    expect((await cancel(job)).body.result).to.equal('CANCELLED');
    agent.ended(dispatch, EXIT_OK);
    await until(() => agent.count('forget') === 2);
    expect(await lab.job(job.id)).to.include({ status: 'CANCELLED', exit_code: -15, attempt: 1 });
  });

  it('DISPATCHING: the agent is told once it has the job', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await agent.take('dispatch');
    expect((await cancel(job)).body.result).to.equal('cancel-requested');
    await agent.take('stop');
    agent.accept(dispatch);
    await agent.take('stop');
    agent.ended(dispatch, { kind: 'dispatch_failed', message: 'stopped before it started' });
    expect(await lab.reach(job.id, 'CANCELLED')).to.include({ exit_code: null });
  });

  it('while the dispatch is being prepared: it is never sent', async () => {
    const agent = await lab.agent();
    let open = () => {};
    gate = new Promise((resolve) => (open = resolve));
    const job = await lab.submit();
    await lab.reach(job.id, 'DISPATCHING');
    expect((await cancel(job)).body.result).to.equal('cancel-requested');
    open();
    await lab.reach(job.id, 'CANCELLED');
    expect(await lab.slots(agent)).to.deep.equal([null]);
    expect(agent.frames.map(({ type }) => type)).to.deep.equal(['welcome']);
  });

  it('while the agent is away: on its return', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await agent.start();
    await lab.reach(job.id, 'RUNNING');
    agent.cut();
    await until(async () => !(await lab.isConnected(agent.nodeId)));
    expect((await cancel(job)).body.result).to.equal('cancel-requested');
    expect((await lab.job(job.id)).status).to.equal('RUNNING');
    const welcome = await agent.connect({ attempts: [toReport(dispatch)] });
    expect(welcome.verdicts).to.deep.equal([{ job_id: job.id, attempt: 1, verdict: 'stop' }]);
    agent.ended(dispatch, KILLED);
    expect(await lab.reach(job.id, 'CANCELLED')).to.include({ exit_code: -15 });
  });

  it('while the agent is away, which then has it no more: without an exit code', async () => {
    const agent = await lab.agent();
    const job = await lab.submit({ max_attempts: 5 });
    await agent.start();
    await lab.reach(job.id, 'RUNNING');
    agent.cut();
    await cancel(job);
    await agent.connect({ attempts: [] });
    expect(await lab.reach(job.id, 'CANCELLED')).to.include({ exit_code: null });
    expect(await lab.slots(agent)).to.deep.equal([null]);
  });

  it('SUCCEEDED or FAILED: 409', async () => {
    const agent = await lab.agent();
    for (const [exit, status] of [
      [EXIT_OK, 'SUCCEEDED'],
      [{ kind: 'exited', code: 1 }, 'FAILED'],
    ] as const) {
      const job = await lab.submit();
      agent.ended(await agent.start(), exit);
      await lab.reach(job.id, status);
      const answer = await cancel(job);
      expect(answer.status).to.equal(409);
      expect(answer.body.error.message).to.contain(`it is ${status}`);
    }
  });

  it('needs write scope', async () => {
    const { id } = await lab.submit();
    expect((await lab.kernel.request('POST', `/jobs/${id}/cancel`, { token: 'read' })).status).to.equal(403);
  });
});
