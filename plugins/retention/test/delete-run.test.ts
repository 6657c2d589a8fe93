import type { EventRecord, Job, JobAttempt, Run } from '@svc/contract';
import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { existsSync, mkdirSync } from 'node:fs';
import type { Rig } from '../../runs/test/support/rig.js';
import { ServerData } from './support/server-data.js';
import { expectNoTrace } from './support/traces.js';

describe('DELETE /runs/{run_id}', function () {
  this.timeout(120_000);
  eachDatabase((database) => {
    let data: ServerData;
    let rig: Rig;
    beforeEach(async () => {
      data = await ServerData.create(database);
      rig = await data.start();
    });
    afterEach(async () => {
      await rig.close();
      data.remove();
    });

    const remove = (id: string, token = rig.tokens.write) =>
      rig.kernel.request('DELETE', `/runs/${id}`, { token });
    const get = async (id: string) => (await rig.get(`/runs/${id}`)).body as Run;
    const write = (id: string, seq: number, token = rig.tokens.sdk) =>
      rig.post(`/runs/${id}/metrics:batch`, { points: [{ seq, name: 'm', step: seq, value: 1 }] }, token);
    const deletions = async () => (await rig.get('/events?type=RUN_DELETED')).body.items as EventRecord[];

    async function fill({ id }: Pick<Run, 'id'>, points = 3000): Promise<void> {
      for (let first = 0; first < points; first += 10_000) {
        const batch = Array.from({ length: Math.min(10_000, points - first) }, (_, index) => {
          const seq = first + index;
          return { seq, name: `m${seq % 2}`, step: seq, value: seq };
        });
        await rig.post(`/runs/${id}/metrics:batch`, { points: batch });
      }
      await rig.post(`/runs/${id}/checkpoints`, { path: '/ckpt/1', step: 1 });
      await rig.post(`/runs/${id}/events`, { title: 'hello' });
    }

    const finish = ({ id }: Pick<Run, 'id'>) => rig.post(`/runs/${id}/finish`, { status: 'SUCCEEDED' });

    /** A run without a job that has ended. */
    async function endedRun(points?: number) {
      const config = { note: 'x'.repeat(4000) };
      const run = await rig.createRun({ name: 'mlp', project: 'p', tags: ['a'], config });
      await fill(run, points);
      await finish(run);
      return run;
    }

    /** A job that an agent has run to its end, with a log. */
    async function endedJob(): Promise<Job & { run_id: string }> {
      const agent = await rig.agent();
      const job = await rig.submit();
      await agent.startJob(job.id);
      await rig.reach(job.id, 'RUNNING');
      await fill({ id: (await rig.job(job.id)).run_id ?? '' });
      agent.end(job.id);
      mkdirSync(data.logsOf(job.id), { recursive: true });
      return (await rig.reach(job.id, 'SUCCEEDED')) as Job & { run_id: string };
    }

    /** As if it had tens of millions of points. */
    async function lengthen({ id }: Pick<Run, 'id'>): Promise<void> {
      const ofRun = rig.kernel
        .db('metric_series')
        .join('metric_runs', 'key', 'run_key')
        .where({ run_id: id });
      const chunk = await rig.kernel
        .db('metric_chunks')
        .whereIn('series_id', ofRun.select('metric_series.id'))
        .first();
      const more = Array.from({ length: 30_000 }, (_, index) => ({
        ...chunk,
        step_first: 1_000_000 + index,
      }));
      await rig.kernel.db.batchInsert('metric_chunks', more, 100);
    }

    it('removes the run with all that is its own, answers it, and RUN_DELETED fires', async () => {
      const { id, ingest_token } = await endedRun();
      const other = await endedRun();
      const before = await get(id);
      const answer = await remove(id.slice(4));
      expect(answer).to.deep.include({ status: 200, body: before });
      expect((await rig.get(`/runs/${id}`)).status).to.equal(404);
      await expectNoTrace(rig, id);
      expect(await rig.kernel.db('removals')).to.deep.equal([]);
      const [event, ...more] = await deletions();
      expect(more).to.deep.equal([]);
      expect(event).to.deep.include({ run_id: null, job_id: null, title: 'Run mlp was deleted' });
      expect(event?.data).to.deep.equal({ run_id: id, status: 'SUCCEEDED', source: 'sdk' });
      expect((await rig.get(`/runs/${other.id}/metrics?limit=10`)).body.series.m0.total).to.equal(1500);
      expect((await remove(id)).status).to.equal(404);
      expect((await write(id, 1)).status).to.equal(404);
      await until(async () => (await write(id, 1, ingest_token)).status === 401);
    });

    it('needs write scope and a run', async () => {
      const { id } = await endedRun(10);
      for (const scope of ['read', 'sdk'] as const)
        expect((await remove(id, rig.tokens[scope])).status, scope).to.equal(403);
      for (const unknown of ['run_01HZZZZZZZZZZZZZZZZZZZZZZZ', 'no id'])
        expect((await remove(encodeURIComponent(unknown))).status, unknown).to.equal(404);
      expect((await get(id)).id).to.equal(id);
    });

    it('refuses a run that is RUNNING, and says what ends it', async () => {
      const run = await rig.createRun();
      const refused = await remove(run.id);
      expect(refused.status).to.equal(409);
      expect(refused.body.error.message).to.contain(`svc run finish ${run.id}`);
      expect((await get(run.id)).status).to.equal('RUNNING');
      await finish(run);
      expect((await remove(run.id)).status).to.equal(200);
    });

    it('refuses each run of a job that has not ended, and says what ends that', async () => {
      const agent = await rig.agent();
      const { id } = await rig.submit({ max_attempts: 1 });
      await agent.startJob(id);
      const { run_id } = await rig.reach(id, 'RUNNING');
      expect((await remove(run_id ?? '')).body.error.message).to.contain(`svc cancel ${id}`);
      agent.end(id);
      await rig.reach(id, 'SUCCEEDED');
      await rig.post(`/jobs/${id}/retry`);
      const refused = await remove(run_id ?? '');
      expect(refused.status).to.equal(409);
      expect(refused.body.error.details.status).to.be.oneOf(['QUEUED', 'DISPATCHING']);
    });

    it('refuses a run whose checkpoint is being evaluated, and RUN_DELETED does not fire', async () => {
      const run = await endedRun(10);
      const [checkpoint] = (await rig.get(`/runs/${run.id}/checkpoints`)).body.items;
      const evaluation = await rig.submit({ type: 'EVALUATE', resources: { gpu: 64, cpu_only: false } });
      await rig.kernel.db('jobs').where({ id: evaluation.id }).update({ checkpoint_id: checkpoint.id });
      const refused = await remove(run.id);
      expect(refused.status).to.equal(409);
      expect(refused.body.error.message).to.contain('is being evaluated');
      expect(await deletions()).to.deep.equal([]);
    });

    it('leaves the job, with its log and without the run, and it can be retried', async () => {
      const job = await endedJob();
      expect((await remove(job.run_id)).body.job_id).to.equal(job.id);
      await expectNoTrace(rig, job.run_id);
      expect((await rig.get(`/jobs/${job.id}`)).body).to.include({ status: 'SUCCEEDED', run_id: null });
      const attempts = (await rig.get(`/jobs/${job.id}/attempts`)).body.items as JobAttempt[];
      expect(attempts.map(({ run_id }) => run_id)).to.deep.equal([null]);
      expect((await rig.get(`/jobs/${job.id}/runs`)).body.items).to.deep.equal([]);
      expect(existsSync(data.logsOf(job.id))).to.equal(true);
      expect((await deletions())[0]).to.include({ job_id: job.id, run_id: null });
      const agent = await rig.agent();
      await rig.post(`/jobs/${job.id}/retry`);
      await until(async () => (await rig.job(job.id)).status !== 'QUEUED');
      await agent.startJob(job.id, 2).catch(() => undefined);
      await agent.close();
    });

    it('does not come back by a late report of its process', async () => {
      const agent = await rig.agent();
      const job = await rig.submit();
      const { env } = await agent.startJob(job.id);
      const run_id = (await rig.reach(job.id, 'RUNNING')).run_id ?? '';
      expect((await write(run_id, 1, env['SVC_TOKEN'])).status).to.equal(200);
      agent.end(job.id);
      await rig.reach(job.id, 'SUCCEEDED');
      expect((await write(run_id, 2, env['SVC_TOKEN'])).status).to.equal(200);
      expect((await remove(run_id)).status).to.equal(200);
      expect((await write(run_id, 3, env['SVC_TOKEN'])).status).to.equal(404);
      expect((await rig.post(`/runs/${run_id}/events`, { title: 't' }, env['SVC_TOKEN'])).status).to.equal(
        404,
      );
      await expectNoTrace(rig, run_id);
    });

    it('ends the streams of a LOST run, which does not come back either', async () => {
      const run = await rig.createRun();
      await write(run.id, 1);
      await rig.kernel.db('runs').where({ id: run.id }).update({ status: 'LOST', finished_at: Date.now() });
      const stream = await rig.kernel.sse(`/runs/${run.id}/metrics/stream`, { token: rig.tokens.read });
      expect((await remove(run.id)).status).to.equal(200);
      for await (const { event } of stream) if (event === 'end') break;
      expect((await write(run.id, 2)).status).to.equal(404);
      expect((await rig.post(`/runs/${run.id}/alive`, undefined, rig.tokens.sdk)).status).to.equal(404);
      await expectNoTrace(rig, run.id);
    });

    it('takes what is written meanwhile with it, and refuses what comes later', async () => {
      const run = await endedRun(60_000);
      const statuses = new Set<number>();
      const deleting = remove(run.id);
      for (let seq = 100_000; !statuses.has(404); seq += 1) {
        statuses.add((await write(run.id, seq)).status);
        statuses.add((await rig.post(`/runs/${run.id}/checkpoints`, { path: `/c/${seq}` })).status);
      }
      expect((await deleting).status).to.equal(200);
      expect([...statuses].every((status) => [200, 201, 404].includes(status))).to.equal(true);
      await expectNoTrace(rig, run.id);
      for (const table of ['metric_chunks', 'metric_series', 'metric_seq_ranges', 'metric_runs'])
        expect(await rig.kernel.db(table).count({ count: '*' }).first(), table).to.deep.equal({ count: 0 });
    });

    it('waits for its turn, and gc gives it one', async () => {
      const runs = [await endedRun(), await endedRun()];
      for (const run of runs) await lengthen(run);
      await rig.kernel.db('runs').update({ finished_at: 1 });
      const mine = await endedRun(10);
      const collecting = rig.post('/admin/gc', { dry_run: false });
      const again = remove(mine.id);
      expect((await again).status).to.equal(200);
      const { body } = await collecting;
      expect(body.items).to.have.length(1);
      expect(body.complete).to.equal(false);
      expect((await rig.post('/admin/gc', { dry_run: false })).body.complete).to.equal(true);
      for (const { id } of runs) expect((await rig.get(`/runs/${id}`)).status).to.equal(404);
    });

    it('lets others work while a very long run is deleted', async () => {
      const run = await endedRun();
      await lengthen(run);
      const present = await rig.createRun();
      let isOver = false;
      const deleting = remove(run.id).finally(() => (isOver = true));
      let written = 0;
      let longestMs = 0;
      while (!isOver) {
        const startedMs = performance.now();
        expect((await write(present.id, written)).status).to.equal(200);
        longestMs = Math.max(longestMs, performance.now() - startedMs);
        written += 1;
      }
      expect((await deleting).status).to.equal(200);
      expect(written).to.be.at.least(2);
      expect(longestMs).to.be.lessThan(1000);
    });
  });
});
