import type { JobStatus } from '@svc/contract';
import { fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { EXIT_OK, type FakeAgent, KILLED, Lab, createDataDir, toReport } from './support/lab.js';

describe('a node that goes OFFLINE', () => {
  let clock: FakeClock;
  let lab: Lab;

  beforeEach(async () => {
    clock = fakeClock();
    lab = await Lab.open({ clock });
  });
  afterEach(() => lab.close());

  const startOne = async (agent: FakeAgent, body = {}) => {
    const job = await lab.submit(body);
    const dispatch = await agent.start({ job_id: job.id });
    await lab.reach(job.id, 'RUNNING');
    return { job, dispatch };
  };
  /** Moves time on until the job has got there. */
  const passUntil = async (id: string, status: JobStatus, stepMs = 5000) => {
    await until(async () => {
      const job = await lab.job(id);
      if (job.status !== status) await clock.advance(stepMs);
      return job.status === status;
    });
    return lab.job(id);
  };
  const loseNode = async (agent: FakeAgent, id: string) => {
    agent.cut();
    return passUntil(id, 'LOST');
  };

  it('loses its running jobs after 90 s, and JOB_LOST fires with what is known', async () => {
    const agent = await lab.agent();
    const { job } = await startOne(agent);
    const since = clock.now();
    const lost = await loseNode(agent, job.id);
    expect(clock.now() - since)
      .to.be.at.least(90_000)
      .and.at.most(110_000);
    expect(lost).to.include({
      failure_reason: 'LOST',
      exit_code: null,
      finished_at: null,
      node_id: agent.nodeId,
    });
    expect(lost.failure_message).to.contain('gpu-1 is OFFLINE');
    expect((await lab.events(job, 'JOB_LOST'))[0]).to.include({ severity: 'warning', node_id: agent.nodeId });
    expect(await lab.slots(agent)).to.deep.equal([job.id]);
  });

  it('has them RUNNING again when it comes back with them: JOB_FOUND fires, RUN_FINISHED does not fire', async () => {
    const agent = await lab.agent();
    const { job, dispatch } = await startOne(agent, { max_attempts: 3 });
    const { started_at } = await lab.job(job.id);
    await loseNode(agent, job.id);
    const { verdicts } = await agent.connect({ attempts: [toReport(dispatch)] });
    expect(verdicts[0]?.verdict).to.equal('keep');
    expect(await lab.job(job.id)).to.include({
      status: 'RUNNING',
      failure_reason: null,
      failure_message: null,
      attempt: 1,
      started_at,
    });
    expect((await lab.kernel.db('jobs').first()).retry_at).to.equal(null);
    expect(lab.history(job)).to.deep.equal(['QUEUED', 'DISPATCHING', 'RUNNING', 'LOST', 'RUNNING']);
    expect((await lab.events(job, 'JOB_FOUND'))[0]?.title).to.equal('Job train is running after all');
    expect(await lab.events(job, 'RUN_FINISHED')).to.deep.equal([]);
  });

  it('does not retry one that its agent has accepted and is about to start', async () => {
    const agent = await lab.agent();
    const job = await lab.submit({ max_attempts: 3 });
    const dispatch = await agent.take('dispatch');
    agent.accept(dispatch);
    await until(async () => (await lab.kernel.db('attempts').first()).accepted_at !== null);
    await loseNode(agent, job.id);
    const { retry_at } = await lab.kernel.db('jobs').first();
    await clock.advance(retry_at - clock.now() - 30_000);
    const { verdicts } = await agent.connect({ attempts: [toReport(dispatch, { state: 'accepted' })] });
    expect(verdicts[0]?.verdict).to.equal('keep');
    await clock.advance(20_000);
    await clock.advance(20_000);
    expect(await lab.job(job.id)).to.include({ attempt: 1, status: 'LOST' });
    agent.running(dispatch);
    expect(await lab.reach(job.id, 'RUNNING')).to.include({ attempt: 1 });
  });

  it('gives them their real end when they have ended meanwhile, and JOB_FOUND does not fire', async () => {
    const agent = await lab.agent();
    const { job, dispatch } = await startOne(agent);
    await loseNode(agent, job.id);
    await agent.connect({
      attempts: [toReport(dispatch, { state: 'ended', exit: EXIT_OK, started_at: clock.now() })],
    });
    expect(await lab.job(job.id)).to.include({
      status: 'SUCCEEDED',
      failure_reason: null,
      failure_message: null,
    });
    expect(await lab.slots(agent)).to.deep.equal([null]);
    expect(await lab.events(job, 'JOB_FOUND')).to.deep.equal([]);
  });

  it('has them retried after 10 minutes OFFLINE, max_attempts allowing; the old process is stopped on its return', async () => {
    const agent = await lab.agent({ name: 'gone' });
    const { job, dispatch } = await startOne(agent, { max_attempts: 2 });
    await loseNode(agent, job.id);
    const lostAt = clock.now();
    const queued = await passUntil(job.id, 'QUEUED', 10_000);
    expect(clock.now() - lostAt)
      .to.be.at.least(600_000 - 20_000)
      .and.at.most(620_000);
    expect(queued.attempt).to.equal(2);

    const other = await lab.agent({ name: 'other' });
    await passUntil(job.id, 'DISPATCHING', 1000);
    await other.start({ attempt: 2 });
    await lab.reach(job.id, 'RUNNING');

    const { verdicts } = await agent.connect({ attempts: [toReport(dispatch)] });
    expect(verdicts).to.deep.equal([{ job_id: job.id, attempt: 1, verdict: 'stop' }]);
    expect(await lab.slots(agent)).to.deep.equal([job.id]);
    agent.ended(dispatch, KILLED);
    await agent.take('forget');
    expect(await lab.slots(agent)).to.deep.equal([null]);
    expect(await lab.job(job.id)).to.include({ status: 'RUNNING', attempt: 2, node_id: other.nodeId });
    expect((await lab.attempts(job.id)).map(({ status }) => status)).to.deep.equal(['LOST', 'RUNNING']);
  });

  it('leaves them LOST when max_attempts is used up, even once they are known to be gone', async () => {
    const agent = await lab.agent();
    const { job } = await startOne(agent);
    await loseNode(agent, job.id);
    await agent.connect({ attempts: [] });
    await clock.advance(700_000);
    expect(await lab.job(job.id)).to.include({ status: 'LOST', attempt: 1 });
    expect(await lab.slots(agent)).to.deep.equal([null]);
  });

  it('has them retried at once when it comes back without them', async () => {
    const agent = await lab.agent();
    const { job } = await startOne(agent, { max_attempts: 2 });
    await loseNode(agent, job.id);
    await agent.connect({ attempts: [] });
    expect(await lab.reach(job.id, 'QUEUED')).to.include({ attempt: 2 });
  });

  it('LOST jobs can be cancelled and retried by hand', async () => {
    const agent = await lab.agent();
    const { job, dispatch } = await startOne(agent);
    await loseNode(agent, job.id);
    expect((await lab.request('POST', `/jobs/${job.id}/cancel`)).body.result).to.equal('CANCELLED');
    expect(await lab.job(job.id)).to.include({ status: 'CANCELLED', exit_code: null });
    const { body } = await lab.request('POST', `/jobs/${job.id}/retry`);
    expect(body).to.include({ status: 'QUEUED', attempt: 2 });
    const { verdicts } = await agent.connect({ attempts: [toReport(dispatch)] });
    expect(verdicts[0]).to.include({ attempt: 1, verdict: 'stop' });
  });

  it('a cancel that was asked for before: CANCELLED, not LOST, and JOB_LOST does not fire', async () => {
    const agent = await lab.agent();
    const { job } = await startOne(agent, { max_attempts: 5 });
    agent.cut();
    await until(async () => !(await lab.isConnected(agent.nodeId)));
    await lab.request('POST', `/jobs/${job.id}/cancel`);
    expect((await passUntil(job.id, 'CANCELLED')).failure_message).to.contain('gpu-1 is OFFLINE');
    expect(lab.history(job)).not.to.include('LOST');
    expect(await lab.events(job, 'JOB_LOST')).to.deep.equal([]);
  });

  it('a job that was accepted there, but had not started, is LOST too; found, it gets its start', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await agent.take('dispatch');
    agent.accept(dispatch);
    await until(async () => (await lab.kernel.db('attempts').first()).accepted_at !== null);
    await loseNode(agent, job.id);
    await agent.connect({ attempts: [toReport(dispatch)] });
    const found = await lab.job(job.id);
    expect(found.status).to.equal('RUNNING');
    expect(found.started_at).to.be.a('number');
  });

  it('a dispatch of which the server knows nothing more after its restart is queued again, its slot held', async () => {
    const dataDir = createDataDir();
    const first = await Lab.open({ clock, dataDir: dataDir.path });
    const agent = await first.agent();
    const job = await first.submit();
    await agent.take('dispatch');
    await first.close();

    const second = await Lab.open({ clock, dataDir: dataDir.path });
    await clock.advance(60_000);
    expect((await second.job(job.id)).status).to.equal('DISPATCHING');
    await until(async () => {
      await clock.advance(5000);
      return (await second.job(job.id)).status === 'QUEUED';
    });
    expect(await second.job(job.id)).to.include({ attempt: 1 });
    expect(await second.slots(agent)).to.deep.equal([job.id]);
    await second.close();
    dataDir.remove();
  });

  describe('and is forgotten', () => {
    const forget = (agent: FakeAgent) => lab.request('DELETE', `/nodes/${agent.nodeId}`);

    it('has its LOST jobs retried at once, and lets no process of theirs go on when it comes back', async () => {
      const agent = await lab.agent();
      const { job, dispatch } = await startOne(agent, { max_attempts: 2 });
      await loseNode(agent, job.id);
      expect((await forget(agent)).status).to.equal(200);
      const since = clock.now();
      const queued = await passUntil(job.id, 'QUEUED', 1000);
      expect(clock.now() - since).to.be.lessThan(30_000);
      expect(queued).to.include({ attempt: 2, node_id: null });

      const { verdicts } = await agent.connect({ attempts: [toReport(dispatch)] });
      expect(verdicts).to.deep.equal([{ job_id: job.id, attempt: 1, verdict: 'stop' }]);
    });

    it('leaves a LOST job without a further attempt LOST, to be retried or cancelled by hand', async () => {
      const agent = await lab.agent();
      const { job, dispatch } = await startOne(agent);
      await loseNode(agent, job.id);
      expect((await forget(agent)).status).to.equal(200);
      expect(await lab.job(job.id)).to.include({ status: 'LOST', node_id: null });
      const { verdicts } = await agent.connect({ attempts: [toReport(dispatch)] });
      expect(verdicts[0]?.verdict).to.equal('stop');
      expect((await lab.kernel.db('attempts').first()).node_id).to.equal(agent.nodeId);
      agent.ended(dispatch, EXIT_OK);
      await agent.take('forget', { job_id: job.id, attempt: dispatch.attempt });
      expect(await lab.job(job.id)).to.include({ status: 'LOST', node_id: null });
      await lab.request('POST', `/jobs/${job.id}/cancel`);
      expect((await lab.job(job.id)).status).to.equal('CANCELLED');
    });

    it('is kept as long as a job runs there', async () => {
      const agent = await lab.agent();
      const { job } = await startOne(agent);
      await lab.request('POST', `/nodes/${agent.nodeId}/drain`);
      agent.cut();
      await until(async () => !(await lab.isConnected(agent.nodeId)));
      const refused = await forget(agent);
      expect(refused.status).to.equal(409);
      expect(refused.body.error.details).to.deep.equal({ job_ids: [job.id] });
    });
  });
});
