import { newId, type Checkpoint, type Evaluation, type Run } from '@svc/contract';
import { virtualSlots, type FakeAgent } from '@svc/agent/testing';
import { LIST_BYTES } from '@svc/kernel';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { endEvaluation, insertEvaluation, storeResult } from '../src/store.js';
import { Lab, OK } from './support/lab.js';

eachDatabase((database) => {
  describe('evaluations', () => {
    let lab: Lab;
    let agent: FakeAgent;
    let run: Run;
    let checkpoint: Checkpoint;

    before(async () => {
      lab = await Lab.open({ database });
      agent = await lab.agent({ max_cpu_jobs: 1000, slots: virtualSlots(8) });
    });
    after(() => lab.close());
    beforeEach(async () => {
      ({ run } = await lab.trained(agent, { resources: { cpu_only: true } }));
      checkpoint = await lab.checkpoint(run);
    });

    /** Its job runs. */
    const start = async () => {
      const evaluation = await lab.evaluate(checkpoint);
      const key = await agent.start({ job_id: evaluation.job_id });
      await lab.reach(evaluation.job_id, 'RUNNING');
      return { evaluation, key };
    };

    describe('results from agents', () => {
      it('of attempts on other nodes are refused', async () => {
        const other = await lab.agent({ name: 'gpu-3' });
        const { evaluation, key } = await start();
        expect((await lab.send(other, key)).refused).to.have.length(1);
        agent.ended(key, OK);
        await lab.reach(evaluation.job_id, 'SUCCEEDED');
        expect((await lab.evaluation(evaluation.id)).status).to.equal('QUEUED');
        await lab.send(agent, key);
        expect((await lab.evaluation(evaluation.id)).status).to.equal('SUCCEEDED');
      });

      for (const [what, message] of [
        ['nothing', null],
        ['a text as a value', { metrics: { acc: '0.9' }, runtime_s: 1 }],
        ['nested metrics', { metrics: { acc: { top1: 0.9 } }, runtime_s: 1 }],
        ['no runtime', { metrics: { acc: 1 } }],
        ['an unknown field', { metrics: {}, runtime_s: 1, extra: 1 }],
      ] as const) {
        it(`with ${what} are refused`, async () => {
          const { key } = await start();
          expect((await lab.send(agent, key, message)).refused).to.have.length(1);
        });
      }

      it('of attempts that nobody knows, and of trainings, change nothing', async () => {
        const unknown = { job_id: newId('job'), attempt: 1 };
        const { key, job } = await lab.train(agent, { resources: { cpu_only: true } });
        for (const each of [unknown, { job_id: 'nonsense', attempt: 1 }, key])
          expect((await lab.send(agent, each)).refused).to.deep.equal([]);
        expect((await lab.job(job.id)).status).to.equal('RUNNING');
        agent.ended(key, OK);
        await lab.reach(job.id, 'SUCCEEDED');
      });
    });

    describe('are listed', () => {
      it('newest first, by run and by checkpoint', async () => {
        const second = await lab.checkpoint(run, 240);
        const a = await lab.evaluate(checkpoint);
        const b = await lab.evaluate(second);
        const c = await lab.evaluate(checkpoint);
        const ids = async (path: string) =>
          (await lab.get<{ items: Evaluation[] }>(path)).items.map(({ id }) => id);
        expect(await ids(`/evaluations?run_id=${run.id}`)).to.deep.equal([c.id, b.id, a.id]);
        expect(await ids(`/evaluations?checkpoint_id=${checkpoint.id.slice(5)}`)).to.deep.equal([c.id, a.id]);
        expect(await ids(`/evaluations?run_id=${run.id}&checkpoint_id=${second.id}`)).to.deep.equal([b.id]);
        expect(await ids(`/checkpoints/${checkpoint.id}/evaluations?limit=1`)).to.deep.equal([c.id]);
        expect(await ids(`/checkpoints/${checkpoint.id}/evaluations?before=${c.id}`)).to.deep.equal([a.id]);
        expect((await ids('/evaluations?limit=2')).slice(0, 2)).to.deep.equal([c.id, b.id]);
      });

      it('by suite, status and words of their labels, which stand for themselves', async () => {
        const of = `run_id=${run.id}`;
        const evaluate = (labels: object) => lab.evaluate(checkpoint, labels);
        const a = await evaluate({ suite: 'held-out', dataset: 'ImageNet', dataset_version: 'v1_100%' });
        const b = await evaluate({ suite: 'held-out', dataset: 'cifar' });
        const c = await evaluate({ suite: 'Held-Out' });
        await evaluate({});
        await endEvaluation(lab.kernel.db, b.id, { status: 'FAILED', error: 'gone', finished_at: 1 });
        const ids = async (query: string) =>
          (await lab.get<{ items: Evaluation[] }>(`/evaluations?${query}`)).items.map(({ id }) => id);
        expect(await ids(`${of}&suite=held-out`)).to.deep.equal([b.id, a.id]);
        expect(await ids(`${of}&suite=held-out&limit=1&before=${b.id}`)).to.deep.equal([a.id]);
        expect(await ids(`${of}&suite=held-out&status=FAILED`)).to.deep.equal([b.id]);
        expect(await ids(`${of}&q=HELD`)).to.deep.equal([c.id, b.id, a.id]);
        expect(await ids(`${of}&q=imagenet held`)).to.deep.equal([a.id]);
        expect(await ids(`${of}&q=${encodeURIComponent('1_100%')}`)).to.deep.equal([a.id]);
        expect(await ids(`${of}&q=${encodeURIComponent('v1%')}`)).to.deep.equal([]);
        // Without a run all evaluations are searched.
        expect(await ids('q=imagenet'))
          .to.include(a.id)
          .and.not.include(b.id);
        expect(await ids('status=FAILED&suite=held-out'))
          .to.include(b.id)
          .and.not.include(a.id);
        for (const wrong of ['status=NOPE', `q=${'a'.repeat(201)}`, `suite=${'a'.repeat(201)}`])
          expect((await lab.request('GET', `/evaluations?${wrong}`)).status, wrong).to.equal(422);
      });

      it('with a checkpoint as many as fit in an answer, the newest', async () => {
        const name = (index: number) => `${index}-`.padEnd(250, 'm');
        const metrics = Object.fromEntries(Array.from({ length: 3500 }, (_, index) => [name(index), index]));
        const ids: string[] = [];
        for (let index = 0; index < 12; index += 1) {
          const id = newId('evaluation');
          const labels = { suite: null, dataset: null, dataset_version: null };
          const owners = { checkpoint_id: checkpoint.id, run_id: run.id, job_id: newId('job') };
          await insertEvaluation(lab.kernel.db, { id, ...owners, ...labels, created_at: Date.now() + index });
          await storeResult(lab.kernel.db, id, 1, { metrics, runtime_s: 1 });
          await endEvaluation(lab.kernel.db, id, { status: 'SUCCEEDED', error: null, finished_at: 1 });
          ids.unshift(id);
        }
        const shown = await lab.get<Checkpoint>(`/checkpoints/${checkpoint.id}`);
        const found = shown.metadata.evaluations.map(({ id }) => id);
        expect(JSON.stringify(shown).length).to.be.below(1.1 * LIST_BYTES);
        expect(found).to.have.length.within(1, 11);
        expect(found).to.deep.equal(ids.slice(0, found.length));
      });

      it('404 for what is not there, which names it', async () => {
        for (const path of [
          `/evaluations?run_id=${newId('run')}`,
          `/evaluations?checkpoint_id=${newId('checkpoint')}`,
          '/evaluations?checkpoint_id=nonsense',
          `/evaluations/${newId('evaluation')}`,
          `/evaluations/${checkpoint.id}`,
          `/checkpoints/${newId('checkpoint')}/evaluations`,
        ]) {
          const { status, body } = await lab.request('GET', path);
          expect([status, body.error.code], path).to.deep.equal([404, 'not_found']);
        }
        const path = `/checkpoints/${newId('checkpoint')}/evaluations`;
        expect((await lab.request('POST', path, { command: ['e'] })).status).to.equal(404);
      });
    });
  });
});
