import { newId, type Checkpoint, type Evaluation, type Job, type Run } from '@svc/contract';
import { virtualSlots, type FakeAgent } from '@svc/agent/testing';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Lab, OK, RESULT } from './support/lab.js';

const TERM = { kind: 'signaled', signal: 'SIGTERM', code: -15 } as const;

eachDatabase((database) => {
  describe('evaluations', () => {
    let lab: Lab;
    let agent: FakeAgent;
    let run: Run;
    let training: Job;
    let checkpoint: Checkpoint;

    before(async () => {
      lab = await Lab.open({ database });
      agent = await lab.agent({ max_cpu_jobs: 1000, slots: virtualSlots(8) });
    });
    after(() => lab.close());
    beforeEach(async () => {
      ({ run, job: training } = await lab.trained(agent, {
        project: 'vision',
        experiment: 'resnet',
        working_dir: '/data/project',
        resources: { cpu_only: true },
        env: { SECRET: 'hunter2' },
      }));
      checkpoint = await lab.checkpoint(run);
    });

    /** Its job runs. */
    const start = async (body: object = {}) => {
      const evaluation = await lab.evaluate(checkpoint, body);
      const key = await agent.start({ job_id: evaluation.job_id });
      await lab.reach(evaluation.job_id, 'RUNNING');
      return { evaluation, key };
    };

    describe('creation: (new) -> QUEUED', () => {
      it('answers the record and queues an EVALUATE job', async () => {
        const labels = { suite: 'heldout', dataset: 'digits', dataset_version: '2' };
        const evaluation = await lab.evaluate(checkpoint, { command: ['python', 'eval.py'], ...labels });
        const { id, job_id, created_at, ...rest } = evaluation;
        expect(id).to.match(/^eval_[0-9A-HJKMNP-TV-Z]{26}$/);
        expect(created_at).to.be.a('number');
        expect(rest).to.deep.equal({
          checkpoint_id: checkpoint.id,
          run_id: run.id,
          ...labels,
          status: 'QUEUED',
          metrics: {},
          runtime_s: null,
          error: null,
          finished_at: null,
        });
        const job = await lab.job(job_id);
        expect(job).to.deep.include({
          type: 'EVALUATE',
          command: ['python', 'eval.py'],
          run_id: null,
          checkpoint_id: checkpoint.id,
          evaluation_id: id,
          project_id: run.project_id,
          experiment_id: run.experiment_id,
          max_attempts: 1,
        });
        await agent.start({ job_id });
      });

      it('inherits working_dir and resources of the training job, and nothing of its environment', async () => {
        const { id, job_id } = await lab.evaluate(checkpoint);
        const job = await lab.job(job_id);
        expect(job).to.deep.include({
          working_dir: '/data/project',
          resources: training.resources,
          env: { SVC_EVAL_CHECKPOINT: checkpoint.path, SVC_EVAL_ID: id },
        });
        expect((await agent.start({ job_id })).working_dir).to.equal('/data/project');
      });

      it('inherits the source tree of the training job', async () => {
        const sha256 = 'a'.repeat(64);
        const { run: other } = await lab.trained(agent, { snapshot: sha256 });
        const saved = await lab.checkpoint(other);
        const { job_id } = await lab.evaluate(saved);
        expect(await lab.job(job_id)).to.deep.include({ snapshot: sha256, working_dir: null });
        const own = await lab.evaluate(saved, { working_dir: '/elsewhere' });
        expect(await lab.job(own.job_id)).to.deep.include({ snapshot: null, working_dir: '/elsewhere' });
        for (const job of [job_id, own.job_id]) agent.ended(await agent.start({ job_id: job }), TERM);
      });

      it('takes each override', async () => {
        const overrides = {
          working_dir: '/elsewhere',
          env: { BATCH: '8', SVC_EVAL_CHECKPOINT: '/no', SVC_EVAL_OUTPUT: 'out.json' },
          resources: { gpu: 0, cpu_only: true },
          priority: 7,
          node_selector: { node: 'gpu-1' },
          max_attempts: 3,
        };
        const { id, job_id } = await lab.evaluate(checkpoint, overrides);
        expect(await lab.job(job_id)).to.deep.include({
          ...overrides,
          env: {
            BATCH: '8',
            SVC_EVAL_OUTPUT: 'out.json',
            SVC_EVAL_CHECKPOINT: checkpoint.path,
            SVC_EVAL_ID: id,
          },
        });
        await agent.start({ job_id });
      });

      it('names two jobs of one checkpoint differently: eval:<run_name>:step<N> and the end of the id', async () => {
        const both = [await lab.evaluate(checkpoint), await lab.evaluate(checkpoint)];
        const names = await Promise.all(both.map(async ({ job_id }) => (await lab.job(job_id)).name));
        expect(names).to.deep.equal(both.map(({ id }) => `eval:digits:step120:${id.slice(-8)}`));
        expect(new Set(names).size).to.equal(2);
      });

      it('cuts a long name of a run, and leaves out a step that is not known', async () => {
        const long = await lab.createRun({ name: '😀'.repeat(200) });
        const { id, job_id } = await lab.evaluate(await lab.checkpoint(long, null), {
          resources: { cpu_only: true },
        });
        const { name } = await lab.job(job_id);
        expect([...name]).to.have.length(200);
        expect(name.endsWith(`😀:${id.slice(-8)}`), name).to.equal(true);
      });

      it('of a run without a job has the defaults of a submit', async () => {
        const { job_id } = await lab.evaluate(await lab.checkpoint(await lab.createRun()), {
          resources: { cpu_only: true },
        });
        expect(await lab.job(job_id)).to.deep.include({
          working_dir: null,
          runner: 'process',
          node_selector: {},
        });
      });

      it('honours an Idempotency-Key: the same body answers 200 with the first record, another one 409', async () => {
        const path = `/checkpoints/${checkpoint.id}/evaluations`;
        const headers = { 'Idempotency-Key': newId('event') };
        const first = await lab.request('POST', path, { command: ['eval'] }, headers);
        const again = await lab.request('POST', path, { command: ['eval'] }, headers);
        const other = await lab.request('POST', path, { command: ['other'] }, headers);
        expect([first.status, again.status, other.status]).to.deep.equal([201, 200, 409]);
        expect(again.body).to.deep.equal(first.body);
      });

      it('stores neither job nor evaluation of a request that is refused', async () => {
        const count = async () => [
          (await lab.get<{ items: unknown[] }>('/jobs')).items.length,
          (await lab.get<{ items: unknown[] }>('/evaluations')).items.length,
        ];
        const before = await count();
        for (const [body, path] of [
          [{}, 'command'],
          [{ command: [] }, 'command'],
          [{ command: [''] }, 'command[0]'],
          [{ command: ['e'], suite: 7 }, 'suite'],
          [{ command: ['e'], suite: '' }, 'suite'],
          [{ command: ['e'], dataset: 'a\0' }, 'dataset'],
          [{ command: ['e'], dataset_version: 'x'.repeat(201) }, 'dataset_version'],
          [{ command: ['e'], working_dir: 'relative' }, 'working_dir'],
          [{ command: ['e'], resources: { gpu: 1, cpu_only: true } }, 'resources'],
          [{ command: ['e'], type: 'TRAIN' }, 'type'],
          [{ command: ['e'], name: 'mine' }, 'name'],
        ] as const) {
          const answer = await lab.request('POST', `/checkpoints/${checkpoint.id}/evaluations`, body);
          expect([answer.status, answer.body.error.code], path).to.deep.equal([422, 'validation_error']);
          const paths = answer.body.error.details.errors.map((issue: { path: string }) => issue.path);
          expect(paths, JSON.stringify(answer.body)).to.include(path);
        }
        expect(await count()).to.deep.equal(before);
      });

      it('needs write scope: a token of read, sdk or agent scope, or of a run, is refused', async () => {
        const { ingest_token } = await lab.createRun();
        for (const token of [lab.tokens.read, lab.tokens.sdk, lab.tokens.agent, ingest_token]) {
          const path = `/checkpoints/${checkpoint.id}/evaluations`;
          expect((await lab.request('POST', path, { command: ['e'] }, {}, token)).status).to.equal(403);
        }
      });
    });

    describe('QUEUED -> SUCCEEDED', () => {
      it('when the job ends and then its result comes', async () => {
        const { evaluation, key } = await start({ suite: 'heldout' });
        agent.ended(key, OK);
        await lab.reach(evaluation.job_id, 'SUCCEEDED');
        expect((await lab.evaluation(evaluation.id)).status).to.equal('QUEUED');
        expect((await lab.send(agent, key)).refused).to.deep.equal([]);
        const done = await lab.evaluation(evaluation.id);
        expect(done).to.deep.include({ ...RESULT, status: 'SUCCEEDED', error: null, suite: 'heldout' });
        expect(done.finished_at).to.equal((await lab.job(evaluation.job_id)).finished_at);
      });

      it('when the result comes and then the job ends; before, the result does not show and EVALUATION_FINISHED does not fire', async () => {
        const { evaluation, key } = await start();
        await lab.send(agent, key);
        expect(await lab.evaluation(evaluation.id)).to.deep.equal(evaluation);
        expect(await lab.finished(evaluation.id)).to.deep.equal([]);
        agent.ended(key, OK);
        expect(await lab.settle(evaluation.id, 'SUCCEEDED')).to.deep.include(RESULT);
      });

      it('attaches the result to the metadata of the checkpoint, in detail and list, and EVALUATION_FINISHED fires', async () => {
        const { evaluation, key } = await start();
        await lab.send(agent, key);
        agent.ended(key, OK);
        const done = await lab.settle(evaluation.id, 'SUCCEEDED');
        const { metadata } = await lab.get<Checkpoint>(`/checkpoints/${checkpoint.id}`);
        expect(metadata.evaluations).to.deep.equal([done]);
        const { items } = await lab.get<{ items: Checkpoint[] }>(`/runs/${run.id}/checkpoints`);
        expect(items.map((each) => each.metadata.evaluations)).to.deep.equal([[done]]);
        const [event, ...others] = await lab.finished(evaluation.id);
        expect(others).to.deep.equal([]);
        expect(event).to.deep.include({
          severity: 'info',
          run_id: run.id,
          job_id: evaluation.job_id,
          node_id: agent.nodeId,
          message: 'eval/acc 0.91, loss NaN',
        });
        expect(event?.data).to.deep.include({
          evaluation_id: evaluation.id,
          checkpoint_id: checkpoint.id,
          status: 'SUCCEEDED',
        });
      });
    });

    describe('QUEUED -> FAILED', () => {
      for (const [what, exit, reason] of [
        ['fails', { kind: 'exited', code: 3 }, 'EXIT_CODE'],
        ['runs out of memory', { kind: 'oom', code: -9 }, 'OOM'],
        [
          'exits with 0 and leaves no valid result',
          { kind: 'result_invalid', message: 'no file' },
          'EVALUATION_RESULT_INVALID',
        ],
        [
          'cannot be started',
          { kind: 'dispatch_failed', message: 'the checkpoint is not there' },
          'DISPATCH_FAILED',
        ],
      ] as const) {
        it(`when the job ${what}: EVALUATION_FINISHED fires as a warning`, async () => {
          const { evaluation, key } = await start();
          agent.ended(key, exit);
          const job = await lab.reach(evaluation.job_id, 'FAILED');
          expect(job.failure_reason).to.equal(reason);
          const done = await lab.evaluation(evaluation.id);
          expect(done).to.deep.include({
            status: 'FAILED',
            error: job.failure_message,
            metrics: {},
            runtime_s: null,
          });
          const found = await lab.finished(evaluation.id);
          expect(found.map(({ severity, message }) => [severity, message])).to.deep.equal([
            ['warning', job.failure_message],
          ]);
          expect(
            (await lab.get<Checkpoint>(`/checkpoints/${checkpoint.id}`)).metadata.evaluations,
          ).to.deep.equal([]);
        });
      }
    });

    describe('QUEUED -> CANCELLED', () => {
      it('when the job is cancelled while it is queued: EVALUATION_FINISHED fires as a warning', async () => {
        const evaluation = await lab.evaluate(checkpoint, { node_selector: { node: 'nowhere' } });
        await lab.request('POST', `/jobs/${evaluation.job_id}/cancel`);
        const done = await lab.evaluation(evaluation.id);
        expect(done).to.include({ status: 'CANCELLED', error: 'cancelled while queued' });
        expect((await lab.finished(evaluation.id)).map(({ severity }) => severity)).to.deep.equal([
          'warning',
        ]);
      });

      it('when the job is cancelled while it runs, even if it leaves a result', async () => {
        const { evaluation, key } = await start();
        await lab.request('POST', `/jobs/${evaluation.job_id}/cancel`);
        await lab.send(agent, key);
        agent.ended(key, TERM);
        await lab.reach(evaluation.job_id, 'CANCELLED');
        expect(await lab.evaluation(evaluation.id)).to.deep.include({ status: 'CANCELLED', metrics: {} });
        expect((await lab.finished(evaluation.id)).map(({ severity }) => severity)).to.deep.equal([
          'warning',
        ]);
      });
    });

    describe('that have ended', () => {
      it('are not marked again by late frames', async () => {
        for (const [exit, status] of [
          [OK, 'SUCCEEDED'],
          [TERM, 'FAILED'],
        ] as const) {
          const { evaluation, key } = await start();
          await lab.send(agent, key);
          agent.ended(key, exit);
          const done = await lab.settle(evaluation.id, status);
          agent.running(key);
          agent.ended(key, { kind: 'exited', code: 9 });
          agent.ended(key, OK);
          expect((await lab.send(agent, key, { metrics: { acc: 0 }, runtime_s: 0 })).refused).to.deep.equal(
            [],
          );
          expect(await lab.evaluation(evaluation.id)).to.deep.equal(done);
          expect(await lab.finished(evaluation.id)).to.have.length(1);
        }
      });

      it('are QUEUED again when their job is retried, and take the result of that attempt alone', async () => {
        const { evaluation, key } = await start();
        await lab.send(agent, key, { metrics: { acc: 0.1 }, runtime_s: 1 });
        agent.ended(key, { kind: 'exited', code: 1 });
        await lab.settle(evaluation.id, 'FAILED');
        await lab.request('POST', `/jobs/${evaluation.job_id}/retry`);
        expect(await lab.evaluation(evaluation.id)).to.deep.equal(evaluation);
        const second = await agent.start({ job_id: evaluation.job_id, attempt: 2 });
        await lab.reach(evaluation.job_id, 'RUNNING');
        await lab.send(agent, key, { metrics: { acc: 0.2 }, runtime_s: 1 });
        await lab.send(agent, second);
        await lab.send(agent, key, { metrics: { acc: 0.3 }, runtime_s: 1 });
        agent.ended(second, OK);
        expect(await lab.settle(evaluation.id, 'SUCCEEDED')).to.deep.include(RESULT);
        const { items } = await lab.get<{ items: Evaluation[] }>(`/checkpoints/${checkpoint.id}/evaluations`);
        expect(items.map(({ id }) => id)).to.deep.equal([evaluation.id]);
        expect((await lab.finished(evaluation.id)).map(({ severity }) => severity)).to.deep.equal([
          'warning',
          'info',
        ]);
      });

      it('stay QUEUED while their job is LOST, and go on with it', async () => {
        const other = await lab.agent({ name: 'gpu-2' });
        const evaluation = await lab.evaluate(checkpoint, { node_selector: { node: 'gpu-2' } });
        const key = await other.start({ job_id: evaluation.job_id });
        await lab.reach(evaluation.job_id, 'RUNNING');
        other.ended(key, { kind: 'lost', reason: 'nobody knows' });
        await lab.reach(evaluation.job_id, 'LOST');
        expect((await lab.evaluation(evaluation.id)).status).to.equal('QUEUED');
        await lab.request('POST', `/jobs/${evaluation.job_id}/cancel`);
        expect((await lab.evaluation(evaluation.id)).status).to.equal('CANCELLED');
      });

      it('are the same ones, QUEUED, when their job was LOST and is retried automatically', async () => {
        const body = { node_selector: { node: 'gpu-3' }, max_attempts: 2 };
        const other = await lab.agent({ name: 'gpu-3' });
        const evaluation = await lab.evaluate(checkpoint, body);
        other.ended(await other.start({ job_id: evaluation.job_id }), {
          kind: 'lost',
          reason: 'nobody knows',
        });
        const second = await other.start({ job_id: evaluation.job_id, attempt: 2 });
        expect(await lab.evaluation(evaluation.id)).to.deep.equal(evaluation);
        await lab.reach(evaluation.job_id, 'RUNNING');
        await lab.send(other, second);
        other.ended(second, OK);
        expect(await lab.settle(evaluation.id, 'SUCCEEDED')).to.deep.include({
          ...RESULT,
          id: evaluation.id,
        });
      });
    });
  });
});
