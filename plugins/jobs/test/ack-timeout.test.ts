import { fakeClock, until, type FakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { EXIT_OK, type FakeAgent, KILLED, Lab, toReport, virtualSlots } from './support/lab.js';

describe('a dispatch that is not acknowledged', () => {
  let clock: FakeClock;
  let lab: Lab;

  beforeEach(async () => {
    clock = fakeClock();
    lab = await Lab.open({ clock });
  });
  afterEach(() => lab.close());

  const passAckTimeout = async (agent: FakeAgent) => {
    const dispatch = await agent.take('dispatch');
    await until(async () => {
      await clock.advance(1000);
      return (await lab.job(dispatch.job_id)).status !== 'DISPATCHING';
    });
    return dispatch;
  };

  it('goes back to QUEUED after 10 s, not before, and says which node was silent', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    await agent.take('dispatch');
    await clock.advance(9_999);
    expect((await lab.job(job.id)).status).to.equal('DISPATCHING');
    await clock.advance(1);
    const queued = await lab.reach(job.id, 'QUEUED');
    expect(queued).to.deep.include({ attempt: 1, node_id: null, gpu_indices: [], dispatched_at: null });
    await until(
      async () => (await lab.job(job.id)).pending_reason === 'no node is online: gpu-1 is disconnected',
    );
    expect(lab.history(job)).to.deep.equal(['QUEUED', 'DISPATCHING', 'QUEUED']);
    expect((await lab.events(job)).map(({ type }) => type)).to.deep.equal(['JOB_QUEUED']);
  });

  it('is answered by `start` once it is noted, and by `stop` when the job has gone elsewhere', async () => {
    const agent = await lab.agent();
    await lab.submit();
    const dispatch = await agent.take('dispatch');
    agent.accept(dispatch);
    expect(await agent.take('start')).to.include({ job_id: dispatch.job_id, attempt: 1 });
    expect((await lab.kernel.db('attempts').first()).accepted_at).to.be.a('number');
    const other = await lab.agent({ name: 'other' });
    other.accept(dispatch);
    expect(await other.take('stop')).to.include({ job_id: dispatch.job_id });
    expect(other.count('start')).to.equal(0);
  });

  it('is in time with `accepted` alone, however long the start takes', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await agent.take('dispatch');
    agent.accept(dispatch);
    await until(async () => (await lab.kernel.db('attempts').first()).accepted_at !== null);
    await clock.advance(60_000);
    expect((await lab.job(job.id)).status).to.equal('DISPATCHING');
    agent.running(dispatch);
    await lab.reach(job.id, 'RUNNING');
  });

  it('makes the server ask the agent what it has, and holds the slots until it says', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    await passAckTimeout(agent);
    expect((await agent.gone()).reason).to.contain('not acknowledged in time');
    expect(await lab.slots(agent)).to.deep.equal([job.id]);
    await agent.connect({ attempts: [] });
    expect(await agent.take('dispatch')).to.include({ job_id: job.id, attempt: 1 });
    expect(agent.count('dispatch')).to.equal(2);
  });

  it('goes to another node, and nothing more to one that stands still, though that has not hung up yet', async () => {
    const frozen = await lab.agent({ name: 'frozen', slots: virtualSlots(2) });
    const job = await lab.submit();
    await frozen.take('dispatch');
    const other = await lab.agent({ name: 'other', slots: virtualSlots(4) });
    frozen.freeze();
    await clock.advance(10_000);
    expect(await other.take('dispatch')).to.include({ job_id: job.id, attempt: 1 });
    expect(await lab.isConnected(frozen.nodeId)).to.equal(false);
    expect(lab.nodes.send(frozen.nodeId, { type: 'start', job_id: job.id, attempt: 1 })).to.equal(false);
    expect(await lab.slots(frozen)).to.deep.equal([job.id, null]);
    frozen.cut();
  });

  it('is not sent again to a node that still holds slots for it', async () => {
    const agent = await lab.agent({ slots: virtualSlots(2) });
    const job = await lab.submit();
    const dispatch = await passAckTimeout(agent);
    await agent.connect({ slots: virtualSlots(2), attempts: [toReport(dispatch)] });
    expect(await lab.job(job.id)).to.deep.include({ status: 'RUNNING', gpu_indices: [0] });
    expect(await lab.slots(agent)).to.deep.equal([job.id, null]);
    expect(agent.count('dispatch')).to.equal(1);
  });

  it('is taken up again where it runs, if nothing else has become of it', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await passAckTimeout(agent);
    const welcome = await agent.connect({ attempts: [toReport(dispatch)] });
    expect(welcome.verdicts).to.deep.equal([{ job_id: job.id, attempt: 1, verdict: 'keep' }]);
    expect(await lab.job(job.id)).to.deep.include({
      status: 'RUNNING',
      attempt: 1,
      node_id: agent.nodeId,
      gpu_indices: [0],
    });
    expect(agent.count('dispatch')).to.equal(1);
    agent.ended(dispatch, EXIT_OK);
    await lab.reach(job.id, 'SUCCEEDED');
    expect(await lab.slots(agent)).to.deep.equal([null]);
  });

  it('keeps its real end when it has run and ended meanwhile', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await passAckTimeout(agent);
    const ended = toReport(dispatch, {
      state: 'ended',
      started_at: clock.now(),
      finished_at: clock.now(),
      exit: { kind: 'exited', code: 7 },
    });
    const welcome = await agent.connect({ attempts: [ended] });
    expect(welcome.verdicts[0]?.verdict).to.equal('forget');
    expect(await lab.job(job.id)).to.include({ status: 'FAILED', exit_code: 7 });
    expect(await lab.slots(agent)).to.deep.equal([null]);
  });

  it('is stopped there once it runs elsewhere, and its slot stays held until it is gone', async () => {
    const silent = await lab.agent({ name: 'silent' });
    const job = await lab.submit();
    const dispatch = await passAckTimeout(silent);
    const other = await lab.agent({ name: 'other' });
    await other.start({ job_id: job.id });
    await lab.reach(job.id, 'RUNNING');

    const welcome = await silent.connect({ attempts: [toReport(dispatch)] });
    expect(welcome.verdicts).to.deep.equal([{ job_id: job.id, attempt: 1, verdict: 'stop' }]);
    expect(await lab.slots(silent)).to.deep.equal([job.id]);
    silent.ended(dispatch, KILLED);
    await silent.take('forget');
    expect(await lab.slots(silent)).to.deep.equal([null]);
    expect(await lab.slots(other)).to.deep.equal([job.id]);
    expect(await lab.job(job.id)).to.include({ status: 'RUNNING', node_id: other.nodeId });
  });

  it('is stopped when an acknowledgement comes for a job that is not there any more', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    const dispatch = await passAckTimeout(agent);
    await lab.request('POST', `/jobs/${job.id}/cancel`);
    const welcome = await agent.connect({ attempts: [toReport(dispatch)] });
    expect(welcome.verdicts[0]?.verdict).to.equal('stop');
    agent.accept(dispatch);
    await agent.take('stop');
    agent.ended(dispatch, KILLED);
    await agent.take('forget');
    expect(await lab.job(job.id)).to.include({ status: 'CANCELLED', exit_code: null });
    expect(await lab.slots(agent)).to.deep.equal([null]);
  });

  it('becomes CANCELLED, not QUEUED, when a cancel was asked for', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    await agent.take('dispatch');
    await lab.request('POST', `/jobs/${job.id}/cancel`);
    await clock.advance(10_000);
    await lab.reach(job.id, 'CANCELLED');
    expect(lab.history(job)).to.deep.equal(['QUEUED', 'DISPATCHING', 'CANCELLED']);
  });

  it('does not become another attempt', async () => {
    const agent = await lab.agent();
    const job = await lab.submit();
    for (let round = 0; round < 3; round++) {
      await passAckTimeout(agent);
      await until(() => agent.closed);
      await agent.connect();
    }
    expect((await agent.take('dispatch')).attempt).to.equal(1);
    expect((await lab.job(job.id)).attempt).to.equal(1);
  });
});
