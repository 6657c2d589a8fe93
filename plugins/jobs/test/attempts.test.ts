import { newId, type JobAttempt } from '@svc/contract';
import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { jobsMigrations } from '../src/migrations.js';
import { EXIT_OK, KILLED, Lab, numberingRuns } from './support/lab.js';

const NOTHING_YET = {
  node_id: null,
  run_id: null,
  exit_code: null,
  failure_reason: null,
  failure_message: null,
  started_at: null,
  finished_at: null,
};

describe('GET /jobs/{job_id}/attempts', () => {
  eachDatabase((database) => {
    let lab: Lab;
    beforeEach(async () => void (lab = await Lab.open({ database, plugins: [numberingRuns] })));
    afterEach(() => lab.close());

    const attemptsOf = async (id: string): Promise<JobAttempt[]> =>
      (await lab.request('GET', `/jobs/${id}/attempts`)).body.items;

    it('tells of an attempt that waits, one that is on its way, one that runs and one that has ended', async () => {
      const job = await lab.submit();
      expect(await attemptsOf(job.id)).to.deep.equal([{ attempt: 1, status: 'QUEUED', ...NOTHING_YET }]);
      const agent = await lab.agent();
      const dispatch = await agent.take('dispatch');
      const sent = { attempt: 1, ...NOTHING_YET, status: 'DISPATCHING', node_id: agent.nodeId };
      expect(await attemptsOf(job.id)).to.deep.equal([sent]);
      agent.accept(dispatch);
      agent.running(dispatch);
      const { started_at } = await lab.reach(job.id, 'RUNNING');
      const running = { ...sent, status: 'RUNNING', run_id: 'run_1', started_at };
      expect(await attemptsOf(job.id)).to.deep.equal([running]);
      agent.ended(dispatch, EXIT_OK);
      const { finished_at } = await lab.reach(job.id, 'SUCCEEDED');
      expect(await attemptsOf(job.id)).to.deep.equal([
        { ...running, status: 'SUCCEEDED', exit_code: 0, finished_at },
      ]);
    });

    it('are listed in parts: the list goes on behind the attempt that `before` names', async () => {
      const { id } = await lab.submit();
      const [first] = await lab.kernel.db('attempts').where({ job_id: id });
      const more = Array.from({ length: 119 }, (_, at) => ({ ...first, attempt: at + 2 }));
      await lab.kernel.db.batchInsert('attempts', more, 50);
      const numbers = async (query: string) =>
        (await lab.request('GET', `/jobs/${id}/attempts${query}`)).body.items.map(
          ({ attempt }: JobAttempt) => attempt,
        );
      expect(await numbers('')).to.have.length(100);
      expect(await numbers('?limit=2')).to.deep.equal([120, 119]);
      expect(await numbers('?limit=2&before=119')).to.deep.equal([118, 117]);
      expect(await numbers('?before=3')).to.deep.equal([2, 1]);
      expect(await numbers('?before=1')).to.deep.equal([]);
    });

    it('keeps how each ended when the job goes on with the next, newest first', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      agent.ended(await agent.start(), { kind: 'exited', code: 3 });
      const failed = await lab.reach(job.id, 'FAILED');
      await lab.request('POST', `/jobs/${job.id}/retry`);
      agent.ended(await agent.start(), { kind: 'dispatch_failed', message: 'no such file' });
      const refused = await lab.reach(job.id, 'FAILED');
      await lab.request('POST', `/jobs/${job.id}/retry`);
      await lab.when(job.id, ({ attempt }) => attempt === 3);
      const [newest, second, first, ...more] = await attemptsOf(job.id);
      expect(more).to.deep.equal([]);
      expect(newest).to.include({ attempt: 3, finished_at: null });
      const { failure_message } = refused;
      expect(second).to.include({ attempt: 2, status: 'FAILED', exit_code: null, failure_message });
      const { started_at, finished_at, node_id } = failed;
      expect(first).to.deep.equal({
        attempt: 1,
        status: 'FAILED',
        exit_code: 3,
        failure_reason: 'EXIT_CODE',
        run_id: 'run_1',
        failure_message: 'exited with code 3',
        started_at,
        finished_at,
        node_id,
      });
    });

    it('has the node that each was dispatched to', async () => {
      const nodesOf = async (jobId: string) =>
        [...(await lab.jobs.nodesOfAttempts(lab.kernel.db, jobId))].sort();
      const job = await lab.submit();
      const agent = await lab.agent();
      agent.ended(await agent.start(), { kind: 'exited', code: 3 });
      const { node_id } = await lab.reach(job.id, 'FAILED');
      await agent.close();
      await lab.request('POST', `/jobs/${job.id}/retry`);
      await lab.when(job.id, ({ attempt }) => attempt === 2);
      expect(await nodesOf(job.id)).to.deep.equal([
        [1, node_id],
        [2, null],
      ]);
      expect(await nodesOf(newId('job'))).to.deep.equal([]);
    });

    it('gives an attempt that was LOST its end when it is given up, and what its agent says of it later', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      const dispatch = await agent.start();
      await lab.reach(job.id, 'RUNNING');
      agent.ended(dispatch, { kind: 'lost', reason: 'its shim was killed' });
      const lost = await lab.reach(job.id, 'LOST');
      expect((await attemptsOf(job.id))[0]).to.include({ status: 'LOST', finished_at: null });
      const { queued_at } = (await lab.request('POST', `/jobs/${job.id}/retry`)).body;
      const givenUp = (await attemptsOf(job.id))[1]!;
      expect(givenUp).to.include({ attempt: 1, status: 'LOST', failure_reason: 'LOST', exit_code: null });
      expect(givenUp).to.include({ finished_at: queued_at, failure_message: lost.failure_message });

      await lab.when(job.id, ({ attempt, status }) => attempt === 2 && status !== 'QUEUED');
      const stranger = await lab.agent({ name: 'stranger' });
      stranger.ended(dispatch, EXIT_OK);
      await stranger.take('forget');
      expect((await attemptsOf(job.id))[1]).to.deep.equal(givenUp);

      const finished_at = givenUp.started_at!;
      const forgotten = agent.count('forget');
      for (const exit of [KILLED, EXIT_OK]) agent.ended(dispatch, exit, { finished_at });
      await until(() => agent.count('forget') === forgotten + 2);
      const [present, told] = await attemptsOf(job.id);
      expect(told).to.deep.equal({
        ...givenUp,
        exit_code: -15,
        finished_at,
        failure_message: `${lost.failure_message}; later gpu-1 said that the process was killed by SIGTERM`,
      });
      expect(present).to.include({ attempt: 2, exit_code: null });
      expect(await lab.job(job.id)).to.include({ attempt: 2, exit_code: null });
    });

    it('is 404 for a job that is not there, or whose id is none', async () => {
      for (const id of [newId('job'), 'job_nonsense', 'nonsense', newId('run')]) {
        const { status, body } = await lab.request('GET', `/jobs/${id}/attempts`);
        expect([status, body.error.code]).to.deep.equal([404, 'not_found']);
      }
    });

    it('takes the id without its prefix, and no unknown parameter', async () => {
      const { id } = await lab.submit();
      expect(await attemptsOf(id.slice(4))).to.have.length(1);
      expect((await lab.request('GET', `/jobs/${id}/attempts?limt=1`)).status).to.equal(422);
    });

    it('fills in what can be known of jobs from before', async () => {
      const agent = await lab.agent();
      const job = await lab.submit();
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        agent.ended(await agent.start(), { kind: 'lost', reason: 'gone' });
        await lab.reach(job.id, 'LOST');
        await lab.request('POST', `/jobs/${job.id}/retry`);
      }
      agent.ended(await agent.start(), EXIT_OK);
      const { queued_at } = await lab.reach(job.id, 'SUCCEEDED');
      const waiting = await lab.submit({ resources: { gpu: 4 } });
      const { db } = lab.kernel;
      await db('attempts').where({ status: 'LOST' }).update({ finished_at: null });
      await db('attempts').where({ job_id: waiting.id }).delete();

      const migration = jobsMigrations.find(({ name }) => name === '0003-every-attempt');
      await db.transaction((trx) => migration!.up(trx));
      const [, second, first] = await attemptsOf(job.id);
      expect(second?.finished_at).to.equal(queued_at);
      const next = (await lab.attempts(job.id))[1];
      expect(first?.finished_at).to.equal(next?.dispatched_at);
      expect(await attemptsOf(waiting.id)).to.deep.equal([{ attempt: 1, status: 'QUEUED', ...NOTHING_YET }]);
    });

    it('has from before the run that its job has, and none that its process was only to be given', async () => {
      const agent = await lab.agent();
      const job = await lab.submit({ max_attempts: 1 });
      agent.ended(await agent.start(), { kind: 'exited', code: 3 });
      await lab.reach(job.id, 'FAILED');
      await lab.request('POST', `/jobs/${job.id}/retry`);
      agent.ended(await agent.take('dispatch', { attempt: 2 }), {
        kind: 'dispatch_failed',
        message: 'no such file',
      });
      await lab.when(job.id, ({ attempt, status }) => attempt === 2 && status === 'FAILED');
      const { db } = lab.kernel;
      const runsOf = async () => (await attemptsOf(job.id)).map(({ run_id }) => run_id);
      const migrate = () => {
        const migration = jobsMigrations.find(({ name }) => name === '0005-run-of-attempt');
        return db.transaction((trx) => migration!.up(trx));
      };
      expect(await runsOf()).to.deep.equal([null, 'run_1']);
      await db('attempts').where({ attempt: 2 }).update({ run_id: 'run_2' });
      await migrate();
      expect(await runsOf()).to.deep.equal([null, 'run_1']);
      await db('jobs').update({ run_id: 'run_2' });
      await migrate();
      expect(await runsOf()).to.deep.equal(['run_2', 'run_1']);
    });
  });

  it('does not say where an attempt was sent that waits again for want of an acknowledgement', async () => {
    const lab = await Lab.open({ options: { ack_timeout_s: 0.1, tick_s: 0.05 } });
    const agent = await lab.agent();
    const job = await lab.submit();
    await agent.take('dispatch');
    await lab.when(job.id, ({ status, pending_reason }) => status === 'QUEUED' && !!pending_reason);
    agent.cut();
    const { items } = (await lab.request('GET', `/jobs/${job.id}/attempts`)).body;
    expect(items).to.deep.equal([{ attempt: 1, status: 'QUEUED', ...NOTHING_YET }]);
    await lab.close();
  });
});
