import { newId, type EventRecord, type Run } from '@svc/contract';
import { definePlugin, type Change } from '@svc/kernel';
import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { runChanged } from '../src/index.js';
import type { JobAgent } from './support/job-agent.js';
import { Rig } from './support/rig.js';

describe('runs of a job', () => {
  eachDatabase((database) => {
    let rig: Rig;
    let agent: JobAgent;
    before(async () => {
      rig = await Rig.start({ database });
      agent = await rig.agent();
    });
    after(() => rig.close());

    const runsOf = async (jobId: string): Promise<Run[]> => (await rig.get(`/jobs/${jobId}/runs`)).body.items;
    const endsOf = async (jobId: string): Promise<string[]> => {
      const { items } = (await rig.get(`/events?job_id=${jobId}&type=RUN_FINISHED`)).body;
      return items.map(
        ({ run_id, severity, data }: EventRecord) =>
          `${run_id} ${severity} ${(data as { status: string }).status}`,
      );
    };
    const statusesOf = async (jobId: string) => (await runsOf(jobId)).map(({ status }) => status);

    it('is there at once when the process exists, with the id that the process was given, and ends with it', async () => {
      const job = await rig.submit({ project: 'p', experiment: 'e' });
      const dispatch = await agent.dispatchOf(job.id);
      expect(dispatch.env['SVC_RUN_ID']).to.match(/^run_/).and.equal(dispatch.run_id);
      expect(await runsOf(job.id)).to.deep.equal([]);
      expect((await rig.job(job.id)).run_id).to.equal(null);
      await agent.startJob(job.id);
      const running = await rig.reach(job.id, 'RUNNING');
      expect(running.run_id).to.equal(dispatch.run_id);
      const [run] = await runsOf(job.id);
      const { project_id, experiment_id, started_at } = running;
      expect(run).to.include({
        id: dispatch.run_id,
        name: 'train',
        source: 'job',
        status: 'RUNNING',
        attempt: 1,
      });
      expect(run).to.include({ project_id, experiment_id, started_at, finished_at: null });
      agent.end(job.id);
      const ended = await rig.reach(job.id, 'SUCCEEDED');
      expect((await runsOf(job.id))[0]).to.include({ status: 'SUCCEEDED', finished_at: ended.finished_at });
    });

    it('is there for a process that reports before the word of its start is here, and goes on as that job does', async () => {
      const job = await rig.submit();
      const { run_id, env } = await agent.dispatchOf(job.id);
      const report = (token?: string) =>
        rig.post(`/runs/${run_id}/events`, { title: 'hello' }, token ?? env['SVC_TOKEN']);
      const otherJob = await rig.submit();
      const other = await agent.startJob(otherJob.id);
      expect((await report(other.env['SVC_TOKEN'])).status, 'by the token of another job').to.equal(404);
      agent.end(otherJob.id);
      expect((await report()).status).to.equal(201);
      expect(await statusesOf(job.id)).to.deep.equal(['RUNNING']);
      await agent.startJob(job.id);
      expect((await rig.reach(job.id, 'RUNNING')).run_id).to.equal(run_id);
      agent.end(job.id);
      expect((await rig.reach(job.id, 'SUCCEEDED')).run_id).to.equal(run_id);
      expect(await statusesOf(job.id)).to.deep.equal(['SUCCEEDED']);
    });

    it('has 1000 runs at most, whoever makes them', async () => {
      const job = await rig.submit();
      const { env } = await agent.startJob(job.id);
      const { run_id } = await rig.reach(job.id, 'RUNNING');
      const first = await rig.kernel.db('runs').where({ id: run_id }).first();
      const rows = Array.from({ length: 998 }, () => ({ ...first, id: newId('run') }));
      await rig.kernel.db.batchInsert('runs', rows, 50);
      const token = env['SVC_TOKEN'];
      expect((await rig.post('/runs', {}, token)).status).to.equal(201);
      for (const refused of [
        await rig.post('/runs', {}, token),
        await rig.post('/runs', { job_id: job.id }),
      ]) {
        expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'conflict']);
        expect(refused.body.error.message).to.contain('1000 runs');
      }
      agent.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
    });

    it('is told once: the jobs plugin tells of it, others are told by their own events', async () => {
      const job = await rig.submit();
      const { env } = await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      const second = await rig.post('/runs', { name: 'second', project: 'ignored' }, env['SVC_TOKEN']);
      expect(second.body).to.include({ job_id: job.id, attempt: 1, source: 'sdk' });
      agent.end(job.id, { kind: 'exited', code: 3 });
      await rig.reach(job.id, 'FAILED');
      expect(await statusesOf(job.id)).to.deep.equal(['FAILED', 'FAILED']);
      await until(
        async () => (await rig.get(`/events?job_id=${job.id}&type=RUN_FINISHED`)).body.items.length === 2,
      );
      const { items } = (await rig.get(`/events?job_id=${job.id}&type=RUN_FINISHED`)).body;
      const endOf = (id: string) => items.find(({ run_id }: EventRecord) => run_id === id);
      const [ofJob, ofSecond] = [endOf(env['SVC_RUN_ID']!), endOf(second.body.id)];
      expect(ofSecond).to.include({ message: 'exited with code 3', node_id: agent.nodeId });
      expect(ofSecond.data).to.deep.equal({ ...ofJob.data, source: 'sdk' });
      const started = (await rig.get(`/events?job_id=${job.id}&type=RUN_STARTED`)).body.items;
      expect(started.map(({ run_id }: { run_id: string }) => run_id)).to.have.members([
        env['SVC_RUN_ID'],
        second.body.id,
      ]);
    });

    it('is left to an exit that overtakes its start, and not to a job that never had a process', async () => {
      const overtaken = await rig.submit();
      const { run_id } = await agent.dispatchOf(overtaken.id);
      agent.report({
        job_id: overtaken.id,
        attempt: 1,
        state: 'ended',
        started_at: null,
        exit: { kind: 'exited', code: 0 },
      });
      expect((await rig.reach(overtaken.id, 'SUCCEEDED')).run_id).to.equal(run_id);
      expect(await statusesOf(overtaken.id)).to.deep.equal(['SUCCEEDED']);

      const failed = await rig.submit();
      await agent.dispatchOf(failed.id);
      agent.report({
        job_id: failed.id,
        attempt: 1,
        state: 'ended',
        started_at: null,
        exit: { kind: 'dispatch_failed', message: 'no such file' },
      });
      await rig.reach(failed.id, 'FAILED');
      expect(await runsOf(failed.id)).to.deep.equal([]);

      const cancelled = await rig.submit({ node_selector: { node: 'nowhere' } });
      await rig.post(`/jobs/${cancelled.id}/cancel`);
      await rig.reach(cancelled.id, 'CANCELLED');
      expect(await runsOf(cancelled.id)).to.deep.equal([]);
    });

    it('is the same when the attempt is sent to its node again: a process of the first dispatch may be there', async () => {
      const forgetful = await rig.agent();
      const job = await rig.submit({ node_selector: { node_id: forgetful.nodeId } });
      const first = await forgetful.dispatchOf(job.id);
      await forgetful.close();
      const from = forgetful.frames.length;
      await forgetful.connect();
      const second = await forgetful.take('dispatch', ({ job_id }) => job_id === job.id, from);
      expect([second.attempt, second.run_id]).to.deep.equal([1, first.run_id]);
      await forgetful.startJob(job.id);
      expect((await rig.reach(job.id, 'RUNNING')).run_id).to.equal(first.run_id);
      forgetful.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
      await forgetful.close();
    });

    it('is not made for an EVALUATE job', async () => {
      const job = await rig.submit({ type: 'EVALUATE' });
      const dispatch = await agent.startJob(job.id);
      expect(dispatch.run_id).to.equal(null);
      expect(dispatch.env).not.to.have.property('SVC_RUN_ID');
      await rig.reach(job.id, 'RUNNING');
      expect(await runsOf(job.id)).to.deep.equal([]);
      agent.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
    });

    it('keeps the end that the training gave it', async () => {
      const job = await rig.submit();
      const { env } = await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      const finished = await rig.post(
        `/runs/${env['SVC_RUN_ID']}/finish`,
        { status: 'FAILED' },
        env['SVC_TOKEN'],
      );
      expect(finished.status).to.equal(200);
      const [event] = (await rig.get(`/events?run_id=${env['SVC_RUN_ID']}&type=RUN_FINISHED`)).body.items;
      expect(event).to.include({ node_id: agent.nodeId });
      expect(event.title).to.match(/^Run .+ failed$/);
      expect(event.message).to.include('the log of its job may say why');
      expect(event.data).to.deep.equal({ status: 'FAILED', source: 'job', attempt: 1 });
      agent.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
      expect(await statusesOf(job.id)).to.deep.equal(['FAILED']);
    });

    it('has one end told, whether the training ends it, its job, or both', async () => {
      const finish = (env: Record<string, string>, status: string) =>
        rig.post(`/runs/${env['SVC_RUN_ID']}/finish`, { status }, env['SVC_TOKEN']);
      const agreed = await rig.submit();
      const { env } = await agent.startJob(agreed.id);
      await rig.reach(agreed.id, 'RUNNING');
      for (const repeat of [1, 2]) {
        expect((await finish(env, 'SUCCEEDED')).status, `time ${repeat}`).to.equal(200);
        expect(await endsOf(agreed.id)).to.deep.equal([`${env['SVC_RUN_ID']} info SUCCEEDED`]);
      }
      agent.end(agreed.id);
      await rig.reach(agreed.id, 'SUCCEEDED');
      expect(await endsOf(agreed.id)).to.deep.equal([`${env['SVC_RUN_ID']} info SUCCEEDED`]);

      const alone = await rig.submit();
      const { run_id } = await agent.startJob(alone.id);
      agent.end(alone.id, { kind: 'exited', code: 3 });
      await rig.reach(alone.id, 'FAILED');
      expect(await endsOf(alone.id)).to.deep.equal([`${run_id} warning FAILED`]);
    });

    it('leaves a job that ends otherwise than its run to be told beside it', async () => {
      const job = await rig.submit();
      const { run_id, env } = await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      await rig.post(`/runs/${run_id}/finish`, { status: 'SUCCEEDED' }, env['SVC_TOKEN']);
      await rig.post(`/jobs/${job.id}/cancel`);
      agent.end(job.id, { kind: 'signaled', signal: 'SIGTERM', code: -15 });
      await rig.reach(job.id, 'CANCELLED');
      expect(await endsOf(job.id)).to.have.members([`${run_id} info SUCCEEDED`, 'null warning CANCELLED']);
    });

    it('is told as ended when its attempt is given up, once, and takes no other end then', async () => {
      const lostAgent = await rig.agent();
      const job = await rig.submit({ node_selector: { node: lostAgent.nodeId } });
      const { run_id, env } = await lostAgent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      const second = (await rig.post('/runs', { name: 'second' }, env['SVC_TOKEN'])).body.id;
      const lost = { kind: 'lost', reason: 'gone' } as const;
      lostAgent.report({ job_id: job.id, attempt: 1, state: 'ended', exit: lost });
      await rig.reach(job.id, 'LOST');
      expect(await endsOf(job.id), 'it may be found again').to.deep.equal([]);
      await rig.post(`/jobs/${job.id}/retry`);
      const ends = [`${run_id} warning LOST`, `${second} warning LOST`];
      expect(await endsOf(job.id)).to.have.members(ends);
      for (const id of [run_id, second]) {
        const late = await rig.post(`/runs/${id}/finish`, { status: 'SUCCEEDED' });
        expect(late.status).to.equal(409);
        expect(late.body.error.message).to.include('LOST');
      }
      expect(await endsOf(job.id)).to.have.members(ends);
      const next = await lostAgent.startJob(job.id, 2);
      await rig.reach(job.id, 'RUNNING');
      lostAgent.end(job.id, { kind: 'exited', code: 0 }, 2);
      await rig.reach(job.id, 'SUCCEEDED');
      expect(await endsOf(job.id)).to.have.members([...ends, `${next.run_id} info SUCCEEDED`]);
      await lostAgent.close();
    });

    it('is told as ended by a process that reports only when its attempt has been given up', async () => {
      const lostAgent = await rig.agent();
      const job = await rig.submit({ node_selector: { node: lostAgent.nodeId } });
      const { run_id, env } = await lostAgent.dispatchOf(job.id);
      const lost = { kind: 'lost', reason: 'gone' } as const;
      lostAgent.report({ job_id: job.id, attempt: 1, state: 'ended', started_at: null, exit: lost });
      await rig.reach(job.id, 'LOST');
      await rig.post(`/jobs/${job.id}/retry`);
      expect(await endsOf(job.id)).to.deep.equal([]);
      for (const title of ['one', 'two'])
        expect((await rig.post(`/runs/${run_id}/events`, { title }, env['SVC_TOKEN'])).status).to.equal(201);
      expect(await endsOf(job.id)).to.deep.equal([`${run_id} warning LOST`]);
      await rig.post(`/jobs/${job.id}/cancel`);
      await lostAgent.close();
    });

    it('has one end told when only its process has told of its start', async () => {
      const lostAgent = await rig.agent();
      const job = await rig.submit({ node_selector: { node: lostAgent.nodeId } });
      const { run_id, env } = await lostAgent.dispatchOf(job.id);
      expect(
        (await rig.post(`/runs/${run_id}/events`, { title: 'early' }, env['SVC_TOKEN'])).status,
      ).to.equal(201);
      const lost = { kind: 'lost', reason: 'gone' } as const;
      lostAgent.report({ job_id: job.id, attempt: 1, state: 'ended', started_at: null, exit: lost });
      await rig.reach(job.id, 'LOST');
      await rig.post(`/jobs/${job.id}/cancel`);
      expect((await rig.reach(job.id, 'CANCELLED')).run_id).to.equal(run_id);
      const [attempt] = (await rig.get(`/jobs/${job.id}/attempts`)).body.items;
      expect(attempt).to.include({ status: 'CANCELLED', started_at: null, run_id });
      expect(await statusesOf(job.id)).to.deep.equal(['CANCELLED']);
      expect(await endsOf(job.id)).to.deep.equal([`${run_id} warning CANCELLED`]);
      await lostAgent.close();
    });

    it('has its end told with that of its job, when it is heard of only after that', async () => {
      const lostAgent = await rig.agent();
      const job = await rig.submit({ node_selector: { node: lostAgent.nodeId } });
      const { run_id, env } = await lostAgent.dispatchOf(job.id);
      const lost = { kind: 'lost', reason: 'gone' } as const;
      lostAgent.report({ job_id: job.id, attempt: 1, state: 'ended', started_at: null, exit: lost });
      await rig.reach(job.id, 'LOST');
      await rig.post(`/jobs/${job.id}/cancel`);
      expect(await endsOf(job.id)).to.deep.equal(['null warning CANCELLED']);
      expect((await rig.post(`/runs/${run_id}/events`, { title: 'late' }, env['SVC_TOKEN'])).status).to.equal(
        201,
      );
      expect(await statusesOf(job.id)).to.deep.equal(['CANCELLED']);
      expect(await endsOf(job.id)).to.deep.equal(['null warning CANCELLED']);
      await lostAgent.close();
    });

    it('is not there for an EVALUATE job, whose end is told all the same', async () => {
      const job = await rig.submit({ type: 'EVALUATE' });
      await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      agent.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
      expect(await endsOf(job.id)).to.deep.equal(['null info SUCCEEDED']);
    });

    it('is LOST with its job, RUNNING when that is found, and stays behind when it is retried', async () => {
      const lostAgent = await rig.agent();
      const job = await rig.submit({ node_selector: { node: lostAgent.nodeId } });
      const { env } = await lostAgent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      lostAgent.report({
        job_id: job.id,
        attempt: 1,
        state: 'ended',
        exit: { kind: 'lost', reason: 'gone' },
      });
      await rig.reach(job.id, 'LOST');
      expect(await statusesOf(job.id)).to.deep.equal(['LOST']);
      lostAgent.report({ job_id: job.id, attempt: 1 });
      await rig.reach(job.id, 'RUNNING');
      expect((await runsOf(job.id))[0]).to.include({ status: 'RUNNING', finished_at: null });
      lostAgent.report({
        job_id: job.id,
        attempt: 1,
        state: 'ended',
        exit: { kind: 'lost', reason: 'gone' },
      });
      await rig.reach(job.id, 'LOST');
      const late = await rig.post('/runs', { name: 'late' }, env['SVC_TOKEN']);
      expect(late.status).to.equal(201);
      await rig.post(`/jobs/${job.id}/retry`);
      await lostAgent.startJob(job.id, 2);
      await rig.reach(job.id, 'RUNNING');
      const all = (await runsOf(job.id)).map(({ attempt, status }) => `${attempt} ${status}`);
      expect(all).to.have.members(['2 RUNNING', '1 LOST', '1 LOST']);
      expect((await rig.post('/runs', {}, env['SVC_TOKEN'])).status).to.equal(409);
      lostAgent.end(job.id, { kind: 'exited', code: 0 }, 2);
      await rig.reach(job.id, 'SUCCEEDED');
    });

    it('takes nothing from the token of another job', async () => {
      const here = { node_selector: { node: agent.nodeId } };
      const [mine, theirs] = [await rig.submit(here), await rig.submit(here)];
      const { env } = await agent.startJob(mine.id);
      const other = await agent.startJob(theirs.id);
      await rig.reach(theirs.id, 'RUNNING');
      await rig.reach(mine.id, 'RUNNING');
      for (const path of [`/runs/${other.run_id}/finish`, `/runs/${other.run_id}/finish`]) {
        expect((await rig.post(path, { status: 'FAILED' }, env['SVC_TOKEN'])).status).to.equal(403);
      }
      expect((await rig.post('/runs', { job_id: theirs.id }, env['SVC_TOKEN'])).status).to.equal(403);
      expect((await rig.patch(`/runs/${other.run_id}`, { max_steps: 3 }, env['SVC_TOKEN'])).status).to.equal(
        403,
      );
      for (const { id } of [mine, theirs]) agent.end(id);
      for (const { id } of [mine, theirs]) await rig.reach(id, 'SUCCEEDED');
    });
  });

  it('tells observers of every change, once, after its commit', async () => {
    const changes: Change<Run>[] = [];
    const observer = definePlugin({
      name: 'observer',
      requires: ['runs'],
      setup: (ctx) => ctx.tap(runChanged, (change) => void changes.push(change)),
    });
    const rig = await Rig.start({ plugins: [observer()] });
    try {
      const agent = await rig.agent();
      const job = await rig.submit();
      await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      agent.end(job.id);
      await until(() => changes.length === 2);
      expect(changes.map(({ before, after }) => [before?.status, after.status])).to.deep.equal([
        [undefined, 'RUNNING'],
        ['RUNNING', 'SUCCEEDED'],
      ]);
    } finally {
      await rig.close();
    }
  });
});
