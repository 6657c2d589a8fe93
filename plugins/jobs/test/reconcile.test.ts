import { newId } from '@svc/contract';
import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { EXIT_OK, FakeAgent, KILLED, Lab, createDataDir, toReport, virtualSlots } from './support/lab.js';

describe('an agent that comes back', () => {
  eachDatabase((database) => {
    let lab: Lab;
    beforeEach(async () => {
      lab = await Lab.open({ database });
    });
    afterEach(() => lab.close());

    const startOne = async (agent: FakeAgent, body = {}) => {
      const job = await lab.submit(body);
      const dispatch = await agent.start({ job_id: job.id });
      await lab.reach(job.id, 'RUNNING');
      return { job, dispatch };
    };
    const goAway = async (agent: FakeAgent) => {
      agent.cut();
      await until(async () => !(await lab.isConnected(agent.nodeId)));
    };

    it('finds a job untouched by the closed socket, and keeps it', async () => {
      const agent = await lab.agent();
      const { job, dispatch } = await startOne(agent);
      await goAway(agent);
      expect((await lab.job(job.id)).status).to.equal('RUNNING');
      const { verdicts } = await agent.connect({ attempts: [toReport(dispatch)] });
      expect(verdicts).to.deep.equal([{ job_id: job.id, attempt: 1, verdict: 'keep' }]);
      expect(lab.history(job)).to.deep.equal(['QUEUED', 'DISPATCHING', 'RUNNING']);
    });

    it('gives the real end of what ended meanwhile', async () => {
      const agent = await lab.agent();
      const { job, dispatch } = await startOne(agent);
      await goAway(agent);
      const { verdicts } = await agent.connect({
        attempts: [toReport(dispatch, { state: 'ended', exit: EXIT_OK })],
      });
      expect(verdicts[0]?.verdict).to.equal('forget');
      expect(await lab.job(job.id)).to.include({ status: 'SUCCEEDED', exit_code: 0 });
      expect(await lab.slots(agent)).to.deep.equal([null]);
    });

    it('without the attempt: LOST, its slot free, and not retried unless max_attempts allows', async () => {
      const agent = await lab.agent();
      const { job } = await startOne(agent);
      await goAway(agent);
      await agent.connect({ attempts: [] });
      expect(await lab.job(job.id)).to.include({
        status: 'LOST',
        failure_reason: 'LOST',
        failure_message: 'the agent on gpu-1 came back without it',
        attempt: 1,
      });
      expect(await lab.slots(agent)).to.deep.equal([null]);
      expect((await lab.events(job)).map(({ type }) => type)).to.deep.equal([
        'JOB_QUEUED',
        'RUN_STARTED',
        'JOB_LOST',
      ]);
    });

    it('without the attempt: queued again at once when max_attempts allows', async () => {
      const agent = await lab.agent();
      const { job } = await startOne(agent, { max_attempts: 2 });
      await goAway(agent);
      await agent.connect({ attempts: [] });
      const queued = await lab.reach(job.id, 'QUEUED');
      expect(queued).to.include({ attempt: 2, failure_reason: null });
      expect(lab.history(job).slice(-2)).to.deep.equal(['LOST', 'QUEUED']);
    });

    it('after a reboot of its host: the message says so', async () => {
      const agent = await lab.agent();
      const { job } = await startOne(agent);
      await goAway(agent);
      await agent.connect({ attempts: [], boot_id: 'boot-2' });
      expect((await lab.job(job.id)).failure_message).to.equal('gpu-1 was rebooted');
    });

    it('that says itself that nobody can know the end: LOST', async () => {
      const agent = await lab.agent();
      const { job, dispatch } = await startOne(agent, { max_attempts: 2 });
      agent.ended(dispatch, { kind: 'lost', reason: 'host rebooted' });
      await agent.take('forget');
      await lab.reach(job.id, 'QUEUED');
      const [first] = await lab.attempts(job.id);
      expect(first).to.include({
        status: 'LOST',
        failure_reason: 'LOST',
        failure_message: 'host rebooted (gpu-1)',
      });
    });

    it('with an older attempt: that one is stopped, and its slot stays held until it is gone', async () => {
      const agent = await lab.agent({ slots: virtualSlots(2) });
      const { job, dispatch } = await startOne(agent, { max_attempts: 2 });
      await goAway(agent);
      await agent.connect({ attempts: [] });
      await lab.reach(job.id, 'QUEUED');
      await goAway(agent);
      const { verdicts } = await agent.connect({ attempts: [toReport(dispatch)] });
      expect(verdicts).to.deep.equal([{ job_id: job.id, attempt: 1, verdict: 'stop' }]);
      agent.ended(dispatch, KILLED);
      await agent.take('forget', { attempt: 1 });
      expect((await lab.job(job.id)).attempt).to.equal(2);
      expect((await lab.job(job.id)).status).to.equal('QUEUED');
    });

    it('with something that nobody knows: stopped, or forgotten when it has ended', async () => {
      const agent = new FakeAgent({ url: lab.kernel.url });
      const running = { job_id: newId('job'), attempt: 1 };
      const ended = { job_id: newId('job'), attempt: 3 };
      const malformed = { job_id: 'from-another-world', attempt: 1 };
      const { verdicts } = await agent.connect({
        attempts: [
          toReport(running),
          toReport(ended, { state: 'ended', exit: EXIT_OK }),
          toReport(malformed),
        ],
      });
      expect(verdicts).to.deep.equal([
        { ...running, verdict: 'stop' },
        { ...ended, verdict: 'forget' },
        { ...malformed, verdict: 'stop' },
      ]);
      await agent.close();
    });

    it('while a dispatch to it is on its way: that one is not taken for missing', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      const first = await agent.take('dispatch');
      const again = await lab.adopt(agent, { attempts: [toReport(first)] });
      await lab.reach(job.id, 'RUNNING');
      expect(again.count('dispatch')).to.equal(0);
    });
  });

  describe('with an attempt that it has only accepted', () => {
    let lab: Lab;
    beforeEach(async () => {
      lab = await Lab.open();
    });
    afterEach(() => lab.close());

    it('may start it when it still is its own', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      const dispatch = await agent.take('dispatch');
      agent.cut();
      const { verdicts } = await agent.connect({ attempts: [toReport(dispatch, { state: 'accepted' })] });
      expect(verdicts).to.deep.equal([{ job_id: job.id, attempt: 1, verdict: 'keep' }]);
      expect((await lab.job(job.id)).status).to.equal('DISPATCHING');
      agent.running(dispatch);
      await lab.reach(job.id, 'RUNNING');
    });

    it('starts nothing of a job that has been cancelled, and frees the slot', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      const dispatch = await agent.take('dispatch');
      agent.cut();
      await lab.request('POST', `/jobs/${job.id}/cancel`);
      const { verdicts } = await agent.connect({ attempts: [toReport(dispatch, { state: 'accepted' })] });
      expect(verdicts[0]?.verdict).to.equal('stop');
      agent.ended(dispatch, { kind: 'lost', reason: 'it was stopped before it was started' });
      await agent.take('forget');
      expect(await lab.job(job.id)).to.include({ status: 'CANCELLED', exit_code: null, started_at: null });
      expect(await lab.slots(agent)).to.deep.equal([null]);
    });
  });

  describe('to a server that was restarted', () => {
    const dataDir = createDataDir();
    after(() => dataDir.remove());

    it('running jobs go on, queued ones stay queued, a dispatch in flight is resolved by asking', async () => {
      let lab = await Lab.open({ dataDir: dataDir.path });
      const agent = await lab.agent({ slots: virtualSlots(3) });
      const runs = await lab.submit({ name: 'runs' });
      const dispatch = await agent.start({ job_id: runs.id });
      const ends = await lab.submit({ name: 'ends' });
      const ending = await agent.start({ job_id: ends.id });
      await lab.reach(ends.id, 'RUNNING');
      await lab.reach(runs.id, 'RUNNING');
      const inFlight = await lab.submit({ name: 'in-flight' });
      await agent.take('dispatch', { job_id: inFlight.id });
      const waits = await lab.submit({ name: 'waits', resources: { gpu: 9 } });
      await lab.close();

      lab = await Lab.open({ dataDir: dataDir.path });
      expect((await lab.job(runs.id)).status).to.equal('RUNNING');
      expect((await lab.job(ends.id)).status).to.equal('RUNNING');
      expect((await lab.job(inFlight.id)).status).to.equal('DISPATCHING');
      const back = await lab.adopt(agent, {
        slots: virtualSlots(3),
        attempts: [
          toReport(dispatch),
          toReport(ending, { state: 'ended', exit: { kind: 'exited', code: 4 } }),
        ],
      });
      expect(await lab.job(runs.id)).to.include({ status: 'RUNNING', attempt: 1 });
      expect(await lab.job(ends.id)).to.include({ status: 'FAILED', exit_code: 4 });
      expect((await lab.job(waits.id)).status).to.equal('QUEUED');
      expect(await back.take('dispatch')).to.include({ job_id: inFlight.id, attempt: 1 });
      expect(lab.history(runs)).to.deep.equal([]);
      await lab.close();
    });

    it('a job that the agent had acknowledged and never started is dispatched again', async () => {
      let lab = await Lab.open({ dataDir: dataDir.path });
      const agent = await lab.agent();
      const job = await lab.submit({ node_selector: { node_id: agent.nodeId } });
      agent.accept(await agent.take('dispatch'));
      await until(
        async () => (await lab.kernel.db('attempts').where({ job_id: job.id }).first()).accepted_at !== null,
      );
      await lab.close();

      lab = await Lab.open({ dataDir: dataDir.path });
      const back = await lab.adopt(agent);
      expect(await back.take('dispatch')).to.include({ job_id: job.id, attempt: 1 });
      await lab.close();
    });
  });
});
