import { toId, type GarbageReport, type Job, type Run } from '@svc/contract';
import { eachDatabase, until } from '@svc/kernel/testing';
import { metricsRef } from '@svc/plugin-metrics';
import { expect } from 'chai';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rig } from '../../runs/test/support/rig.js';
import { belongingsOf, keepersOf } from '../src/belongings.js';
import { ServerData } from './support/server-data.js';
import { expectNoTrace, tablesWith } from './support/traces.js';

const DAY_MS = 86_400_000;

describe('POST /admin/gc', function () {
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

    const gc = async (body: object = {}): Promise<GarbageReport> => {
      const answer = await rig.post('/admin/gc', body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer.body;
    };
    const remove = (body: object = {}) => gc({ dry_run: false, ...body });
    /** As if so many days had gone by since what is over has ended. */
    async function later(days: number): Promise<void> {
      for (const table of ['jobs', 'runs'])
        await rig.kernel.db.raw(`update ${table} set finished_at = finished_at - ${days * DAY_MS}`);
    }
    const exists = async (path: string) => (await rig.get(path)).status === 200;
    const ids = ({ items }: GarbageReport) => items.map(({ id }) => id);

    /** A run without a job, over now, with points, a checkpoint and an event. */
    async function oldRun(body: object = {}, points = 10, status = 'SUCCEEDED'): Promise<Run> {
      const run = (await rig.post('/runs', body)).body as Run;
      const batch = Array.from({ length: points }, (_, seq) => ({
        seq,
        name: `m${seq % 2}`,
        step: seq,
        value: seq,
      }));
      for (let start = 0; start < points; start += 10_000)
        await rig.post(`/runs/${run.id}/metrics:batch`, { points: batch.slice(start, start + 10_000) });
      await rig.post(`/runs/${run.id}/checkpoints`, { path: '/ckpt/1', step: 1 });
      await rig.post(`/runs/${run.id}/events`, { title: 'hello' });
      await rig.post(`/runs/${run.id}/finish`, { status });
      return run;
    }

    /** A job that an agent has run to its end, with a run and a log. */
    async function oldJob(body: object = {}): Promise<Job> {
      const agent = await rig.agent();
      const job = await rig.submit(body);
      await agent.startJob(job.id);
      agent.end(job.id);
      const ended = await rig.reach(job.id, 'SUCCEEDED');
      writeLog(job.id);
      return ended;
    }

    function writeLog(jobId: string, text = 'a line\n'): string {
      const folder = data.logsOf(jobId);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'attempt-1.ndjson'), text);
      return folder;
    }

    it('needs write scope', async () => {
      expect((await rig.post('/admin/gc', {}, rig.tokens.read)).status).to.equal(403);
    });

    it('without dry_run: false removes nothing, and counts and lists what would go', async () => {
      const run = await oldRun();
      await later(31);
      const report = await gc();
      expect(report).to.include({ dry_run: true, complete: true, kept: 0, freed_bytes: 0 });
      expect(ids(report)).to.deep.equal([run.id]);
      expect(report.items[0]).to.include({
        status: 'SUCCEEDED',
        jobs: 0,
        runs: 1,
        points: 10,
        checkpoints: 1,
      });
      expect(report.totals).to.deep.include({ jobs: 0, runs: 1, points: 10, checkpoints: 1 });
      expect(report.totals.events).to.be.greaterThan(0);
      expect(await exists(`/runs/${run.id}`)).to.equal(true);
      expect(await remove()).to.deep.include({ items: report.items, totals: report.totals });
      expect(await exists(`/runs/${run.id}`)).to.equal(false);
    });

    it('takes a job with its attempts, runs, events, tokens and logs', async () => {
      const job = await oldJob();
      await later(31);
      const report = await remove();
      expect(ids(report)).to.deep.equal([job.id]);
      expect(report.totals).to.include({ jobs: 1, runs: 1, log_files: 1, log_bytes: 7 });
      expect(await exists(`/jobs/${job.id}`)).to.equal(false);
      expect(await exists(`/runs/${job.run_id}`)).to.equal(false);
      expect(existsSync(data.logsOf(job.id))).to.equal(false);
      await expectNoTrace(rig, job.id);
      await expectNoTrace(rig, job.run_id ?? '');
    });

    it('leaves nothing of the points of a run', async () => {
      await oldRun({}, 25_000);
      await later(31);
      expect((await remove()).totals.points).to.equal(25_000);
      for (const table of ['metric_chunks', 'metric_series', 'metric_seq_ranges', 'metric_runs'])
        expect(await rig.kernel.db(table).count({ count: '*' }).first(), table).to.deep.equal({ count: 0 });
    });

    it('goes by age, counted from the end', async () => {
      const first = await oldRun();
      await later(20);
      const second = await oldRun();
      await later(15);
      expect(ids(await gc())).to.deep.equal([first.id]);
      expect(ids(await gc({ older_than_s: (14 * DAY_MS) / 1000 }))).to.deep.equal([first.id, second.id]);
      expect(ids(await gc({ older_than_s: (40 * DAY_MS) / 1000 }))).to.deep.equal([]);
      expect(ids(await gc({ older_than_s: 1e15 + 0.5 }))).to.deep.equal([]);
      expect(ids(await gc({ older_than_s: 0.0001 }))).to.deep.equal([first.id, second.id]);
    });

    it('goes by project, by name or id, and refuses one that there is not', async () => {
      const mine = await oldRun({ project: 'mine' });
      await oldRun({ project: 'other' });
      await later(31);
      expect(ids(await gc({ project: 'mine' }))).to.deep.equal([mine.id]);
      expect(ids(await gc({ project: mine.project_id }))).to.deep.equal([mine.id]);
      expect((await rig.post('/admin/gc', { project: 'none' })).status).to.equal(404);
      expect((await rig.post('/admin/gc', { project: 'no\0ne' })).status).to.equal(422);
      expect((await rig.post('/admin/gc', { keep_tag: '\0' })).status).to.equal(422);
      expect((await rig.get('/projects')).body.items).to.have.length(2);
    });

    it('goes by state', async () => {
      const failed = await oldRun({}, 1, 'FAILED');
      const cancelled = await oldRun({}, 1, 'CANCELLED');
      await oldRun({}, 1, 'SUCCEEDED');
      await later(31);
      expect(ids(await gc({ states: ['FAILED', 'CANCELLED'] }))).to.have.members([failed.id, cancelled.id]);
      expect((await rig.post('/admin/gc', { states: ['RUNNING'] })).status).to.equal(422);
      expect((await rig.post('/admin/gc', { states: ['LOST'] })).status).to.equal(422);
      const doubled = Array<string>(40_000).fill('FAILED');
      expect((await rig.post('/admin/gc', { states: doubled })).status).to.equal(422);
    });

    it('spares a run with the tag, and the job of one', async () => {
      const kept = await oldRun({ tags: ['keep'] });
      const gone = await oldRun({ tags: ['keeper'] });
      const job = await oldJob();
      await rig.patch(`/runs/${job.run_id}`, { tags: ['good', 'keep'] });
      await later(31);
      const report = await remove();
      expect(ids(report)).to.deep.equal([gone.id]);
      expect(report.kept).to.equal(2);
      expect(await exists(`/jobs/${job.id}`)).to.equal(true);
      expect(ids(await gc({ keep_tag: 'golden' }))).to.have.members([kept.id, job.id]);
    });

    it('never touches what is queued, runs, or is LOST', async () => {
      const agent = await rig.agent();
      const running = await rig.submit();
      await agent.startJob(running.id);
      await rig.reach(running.id, 'RUNNING');
      const queued = await rig.submit({ resources: { gpu: 64, cpu_only: false } });
      const open = (await rig.post('/runs', {})).body as Run;
      const lost = await rig.submit();
      await agent.startJob(lost.id);
      await rig.reach(lost.id, 'RUNNING');
      await rig.kernel.db('jobs').where({ id: lost.id }).update({ status: 'LOST' });
      await rig.kernel.db('jobs').update({ finished_at: Date.now() });
      await later(400);
      expect(ids(await remove({ older_than_s: 0 }))).to.deep.equal([]);
      for (const { id } of [running, queued, lost]) expect(await exists(`/jobs/${id}`), id).to.equal(true);
      expect(await exists(`/runs/${open.id}`)).to.equal(true);
    });

    it('never touches a job that holds a slot, though it has ended', async () => {
      const job = await oldJob();
      const { node_id, attempt } = job;
      await rig.kernel.db('cpu_claims').insert({ node_id, job_id: job.id, attempt });
      await later(31);
      expect(ids(await remove())).to.deep.equal([]);
      await rig.kernel.db('cpu_claims').where({ job_id: job.id }).delete();
      expect(ids(await remove())).to.deep.equal([job.id]);
    });

    it('never touches a run whose checkpoint is being evaluated', async () => {
      const run = await oldRun();
      const [checkpoint] = (await rig.get(`/runs/${run.id}/checkpoints`)).body.items;
      const evaluation = await rig.submit({ type: 'EVALUATE', resources: { gpu: 64, cpu_only: false } });
      await rig.kernel.db('jobs').where({ id: evaluation.id }).update({ checkpoint_id: checkpoint.id });
      await later(31);
      expect(ids(await remove())).to.deep.equal([]);
    });

    it('takes what belongs to nothing: old logs and events of jobs that are not there', async () => {
      const stranger = toId('job', '01HZZZZZZZZZZZZZZZZZZZZZZZ') ?? '';
      const folder = writeLog(stranger, '12345');
      const event = {
        type: 'CUSTOM',
        severity: 'info',
        title: 't',
        message: '',
        data: '{}',
        created_at: Date.now() - 31 * DAY_MS,
      };
      await rig.kernel.db('events').insert({ ...event, id: 'evt_x', position: 1_000_000, job_id: stranger });
      expect((await gc()).orphans).to.deep.include({ events: 1, log_files: 0, log_bytes: 0 });
      age(folder);
      expect((await gc({ states: ['FAILED'] })).orphans.events).to.equal(0);
      const noSnapshots = { snapshots: 0, snapshot_bytes: 0 };
      const expected = { ...noSnapshots, events: 1, log_files: 1, log_bytes: 5 };
      expect((await gc()).orphans).to.deep.equal(expected);
      expect(existsSync(folder)).to.equal(true);
      expect((await remove()).orphans).to.deep.equal(expected);
      expect(existsSync(folder)).to.equal(false);
      expect((await remove()).orphans).to.deep.equal({
        ...noSnapshots,
        events: 0,
        log_files: 0,
        log_bytes: 0,
      });
    });

    function age(folder: string): void {
      const longAgo = new Date(Date.now() - 31 * DAY_MS);
      for (const path of [join(folder, 'attempt-1.ndjson'), folder]) utimesSync(path, longAgo, longAgo);
    }

    it('finishes at the next start what was decided before, and nothing else', async () => {
      const run = await oldRun({}, 3000);
      const job = await oldJob();
      const other = await oldRun();
      const decided = [run.id, job.id].map((id) => ({ id, decided_at: 1 }));
      await rig.kernel.db('removals').insert(decided);
      await rig.kernel.db('metric_chunks').delete();
      await rig.close();
      rig = await data.start();
      await until(async () => (await rig.kernel.db('removals')).length === 0);
      expect(await exists(`/runs/${run.id}`)).to.equal(false);
      expect(await exists(`/jobs/${job.id}`)).to.equal(false);
      expect(existsSync(data.logsOf(job.id))).to.equal(false);
      expect(await exists(`/runs/${other.id}`)).to.equal(true);
    });

    if (database.client === 'sqlite') {
      it('gives the space back to the system', async () => {
        await oldRun({}, 200_000);
        await later(31);
        const pages = async () => (await rig.kernel.db.raw('pragma page_count'))[0].page_count as number;
        const before = await pages();
        const { freed_bytes } = await remove();
        expect(freed_bytes).to.be.greaterThan(1_000_000);
        expect((before - (await pages())) * 4096).to.equal(freed_bytes);
        expect((await rig.kernel.db.raw('pragma freelist_count'))[0].freelist_count).to.equal(0);
        expect((await rig.kernel.db.raw('pragma integrity_check'))[0].integrity_check).to.equal('ok');
      });
    }

    const JOB_AND_RUN = { run: ['run_a', 'run_b'], job: ['job_a'] };

    it('knows every table in which a job or a run is named', async () => {
      const { tables } = rig.kernel.ctx.registered;
      const known = [...belongingsOf(tables, JOB_AND_RUN), ...keepersOf(tables, JOB_AND_RUN)];
      const named = await tablesWith(rig, ['job_id', 'run_id', 'run_key', 'series_id', 'level_id']);
      expect([...named.keys()]).to.have.members([...new Set(known.map(({ table }) => table))]);
    });

    it('removes rows before those that they belong to, the many before the few', () => {
      const all = belongingsOf(rig.kernel.ctx.registered.tables, JOB_AND_RUN);
      const inOrder = (wanted: boolean) =>
        all.filter(({ batched }) => batched === wanted).map(({ table }) => table);
      const metricsOfRun = ['metric_seq_ranges', 'metric_chunks', 'metric_series'];
      expect(inOrder(true)).to.deep.equal(['events', ...metricsOfRun, 'checkpoints', 'events']);
      expect(inOrder(false)).to.deep.equal([
        'tokens',
        'assigned_runs',
        'run_documents',
        'run_tags',
        'metric_definitions',
        'metric_levels',
        'metric_runs',
        'runs',
        'attempts',
        'idempotency_keys',
        'tokens',
        'assigned_runs',
        'jobs',
      ]);
    });

    it('says of nested rows which they are by those between them and the record', () => {
      const { tables } = rig.kernel.ctx.registered;
      const chunks = belongingsOf(tables, JOB_AND_RUN).filter(({ table }) => table === 'metric_chunks');
      expect(chunks.map(({ where, bindings }) => [where, bindings])).to.deep.equal([
        [
          'series_id in (select id from metric_series where run_key in (select key from metric_runs where run_id in (?, ?)))',
          ['run_a', 'run_b'],
        ],
      ]);
      const keepers = keepersOf(tables, JOB_AND_RUN).map(({ table, where }) => `${table}: ${where}`);
      expect(keepers).to.have.members([
        'slots: job_id in (?) and true',
        'cpu_claims: job_id in (?) and true',
        `jobs: checkpoint_id in (select id from checkpoints where run_id in (?, ?)) and status in ('QUEUED', 'DISPATCHING', 'RUNNING', 'LOST')`,
      ]);
    });

    it('others write and read while very much is removed', async () => {
      for (let count = 0; count < 3; count += 1) await oldRun({}, 60_000);
      await later(31);
      const present = (await rig.post('/runs', {})).body as Run;
      const removing = remove();
      let written = 0;
      let isOver = false;
      void removing.finally(() => (isOver = true));
      while (!isOver) {
        const points = [{ seq: written, name: 'm', step: written, value: 1 }];
        expect((await rig.post(`/runs/${present.id}/metrics:batch`, { points })).status).to.equal(200);
        written += 1;
      }
      expect((await removing).totals.runs).to.equal(3);
      expect(written).to.be.at.least(2);
      const pages = rig.kernel.use(metricsRef).points(present.id, null);
      let stored = 0;
      for await (const { points } of pages) stored += points.length;
      expect(stored).to.equal(written);
    });
  });
});
