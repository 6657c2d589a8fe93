import { newId, route, type Job, type JobStatus } from '@svc/contract';
import { definePlugin, fail, ok, type PluginContext, type Tx } from '@svc/kernel';
import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  until,
  type FakeClock,
  type TestKernel,
} from '@svc/kernel/testing';
import { auth, authRef, createToken } from '@svc/plugin-auth';
import { attemptPrepare, jobTransition, type AttemptPlan } from '@svc/plugin-jobs';
import { expect } from 'chai';
import { Type } from 'typebox';

const MINUTE_MS = 60_000;

/** A run-side write as the runs plugin guards it: the run is named by its parts. */
const writeToRun = route({
  id: 'test.write',
  method: 'POST',
  path: '/test/{run_id}/{job_id}/{attempt}',
  scope: 'ingest',
  summary: 'Writes to a run.',
  answers: { 200: Type.Object({}) },
});

const guarded = definePlugin({
  name: 'guarded',
  requires: ['auth'],
  setup(ctx) {
    ctx.hooks.routes.tap(ctx.name, (routes) => {
      routes.add(writeToRun, ({ params: { run_id, job_id, attempt }, caller }) => {
        const run = { id: run_id, job_id: job_id === '-' ? null : job_id, attempt: Number(attempt) };
        return ctx.use(authRef).mayIngest(caller, run)
          ? ok({})
          : fail('forbidden', 'this token is for another run');
      });
    });
  },
});

eachDatabase((database) => {
  describe('run ingest tokens', () => {
    let kernel: TestKernel;
    let clock: FakeClock;
    let write: string;
    let jobs: PluginContext;
    /** Fires the hooks of the jobs as the test says. */
    const scriptedJobs = definePlugin({
      name: 'jobs',
      setup(ctx) {
        ctx.declare(attemptPrepare);
        ctx.declare(jobTransition);
        jobs = ctx;
      },
    });

    before(async () => {
      clock = fakeClock();
      kernel = await createTestKernel({ plugins: [auth(), guarded(), scriptedJobs()], database, clock });
      write = kernel.use(authRef).takeFirstToken()!;
    });
    after(() => kernel.close());

    const jobOf = (id: string, attempt: number, status: JobStatus) =>
      ({ id, attempt, status, env: {} }) as Job;
    const writeAs = async (token: string, runId: string, jobId = '-', attempt = 1) =>
      (await kernel.request('POST', `/test/${runId}/${jobId}/${attempt}`, { token })).status;

    async function startAttempt(jobId: string, attempt: number): Promise<string> {
      const plan: AttemptPlan = {
        job: jobOf(jobId, attempt, 'DISPATCHING'),
        attempt,
        run_id: null,
        env: { KEEP: 'me', SVC_TOKEN: 'of the submitter' },
        runner_plan: null,
      };
      const { env } = await jobs.fire(attemptPrepare, plan);
      expect(env['KEEP']).to.equal('me');
      return env['SVC_TOKEN']!;
    }

    async function change(jobId: string, from: [number, JobStatus], to: [number, JobStatus]): Promise<void> {
      await kernel.ctx.transaction((tx) => changeIn(tx, jobId, from, to));
    }
    async function changeIn(tx: Tx, jobId: string, from: [number, JobStatus], to: [number, JobStatus]) {
      const [before, after] = [jobOf(jobId, ...from), jobOf(jobId, ...to)];
      await jobs.fire(jobTransition, { before, after, tx, at: clock.now() });
    }

    it('are minted for each attempt, in place of any token that the submitter named', async () => {
      const token = await startAttempt(newId('job'), 1);
      expect(token).to.match(/^svc_sdk_[0-9A-Za-z]{43}$/);
    });

    it('write to the runs of their own attempt alone', async () => {
      const [job, run] = [newId('job'), newId('run')];
      const token = await startAttempt(job, 2);
      expect(await writeAs(token, run, job, 2)).to.equal(200);
      expect(await writeAs(token, run, job, 1), 'another attempt').to.equal(403);
      expect(await writeAs(token, run, newId('job'), 2), 'another job').to.equal(403);
      expect(await writeAs(token, run, '-'), 'a run of no job').to.equal(403);
    });

    it('of a run write to that run alone', async () => {
      const run = newId('run');
      const token = await kernel.use(authRef).mintIngest(kernel.db, { run_id: run }, clock.now());
      expect(await writeAs(token, run)).to.equal(200);
      expect(await writeAs(token, newId('run'))).to.equal(403);
    });

    it('reach nothing but run-side writes', async () => {
      const token = await startAttempt(newId('job'), 1);
      expect((await kernel.request('GET', '/tokens', { token })).status).to.equal(403);
      expect((await kernel.request('POST', '/auth/sign-in-links', { token })).status).to.equal(403);
      const { body } = await kernel.request('GET', '/auth/whoami', { token });
      expect(body).to.include({ scope: 'sdk', can_write: false });
    });

    it('are not needed by tokens of sdk and write scope, which may write to every run', async () => {
      const draft = { name: 'sdk', scope: 'sdk', expires_at: null } as const;
      const { token } = await createToken(kernel.db, draft, clock.now());
      expect(await writeAs(token, newId('run'))).to.equal(200);
      expect(await writeAs(write, newId('run'), newId('job'))).to.equal(200);
    });

    for (const status of ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const) {
      it(`still take spooled data for ten minutes after their attempt has ${status}`, async () => {
        const [job, run] = [newId('job'), newId('run')];
        const token = await startAttempt(job, 1);
        await change(job, [1, 'RUNNING'], [1, status]);
        await clock.advance(10 * MINUTE_MS - 1);
        expect(await writeAs(token, run, job)).to.equal(200);
        await clock.advance(1);
        expect(await writeAs(token, run, job)).to.equal(401);
      });
    }

    it('live while their attempt is LOST, and end with the retry that gives it up', async () => {
      const [job, run] = [newId('job'), newId('run')];
      const token = await startAttempt(job, 1);
      await change(job, [1, 'RUNNING'], [1, 'LOST']);
      await clock.advance(60 * MINUTE_MS);
      expect(await writeAs(token, run, job)).to.equal(200);
      await change(job, [1, 'LOST'], [2, 'QUEUED']);
      const next = await startAttempt(job, 2);
      await clock.advance(10 * MINUTE_MS);
      expect(await writeAs(token, run, job, 1)).to.equal(401);
      expect(await writeAs(next, run, job, 2)).to.equal(200);
    });

    it('are not prolonged by a second end', async () => {
      const [job, run] = [newId('job'), newId('run')];
      const token = await startAttempt(job, 1);
      await change(job, [1, 'RUNNING'], [1, 'FAILED']);
      await clock.advance(9 * MINUTE_MS);
      await change(job, [1, 'FAILED'], [2, 'QUEUED']);
      await clock.advance(MINUTE_MS);
      expect(await writeAs(token, run, job)).to.equal(401);
    });

    it('end only when the transaction that ends their attempt commits', async () => {
      const [job, run] = [newId('job'), newId('run')];
      const token = await startAttempt(job, 1);
      const rolledBack = kernel.ctx.transaction(async (tx) => {
        await changeIn(tx, job, [1, 'RUNNING'], [1, 'FAILED']);
        throw new Error('roll back');
      });
      await rolledBack.catch(() => undefined);
      await clock.advance(10 * MINUTE_MS);
      expect(await writeAs(token, run, job)).to.equal(200);
    });

    it('are deleted some time after they have expired, others are kept', async () => {
      const run = newId('run');
      await kernel.use(authRef).mintIngest(kernel.db, { run_id: run }, clock.now());
      await kernel.use(authRef).endIngest(kernel.db, { run_id: run }, clock.now());
      await clock.advance(11 * MINUTE_MS);
      const count = async () => (await kernel.db('tokens').where({ run_id: run })).length;
      expect(await count()).to.equal(1);
      await clock.advance(60 * MINUTE_MS);
      await until(async () => (await count()) === 0);
      expect((await kernel.request('GET', '/tokens', { token: write })).status).to.equal(200);
    });
  });
});
