import { eachDatabase, fakeClock, until } from '@svc/kernel/testing';
import { definePlugin } from '@svc/kernel';
import { jobDraft } from '@svc/plugin-jobs';
import { expect } from 'chai';
import { Lab, OK } from './support/lab.js';

eachDatabase((database) => {
  describe('where an evaluation runs', () => {
    let lab: Lab;
    afterEach(() => lab.close());

    it('is the node that holds the checkpoint, and no other', async () => {
      lab = await Lab.open({ database });
      const holder = await lab.agent({ name: 'holder' });
      const { run } = await lab.trained(holder);
      const other = await lab.agent({ name: 'other' });
      const checkpoint = await lab.checkpoint(run);
      const { job_id } = await lab.evaluate(checkpoint, { node_selector: { zone: 'a' } });
      expect((await lab.job(job_id)).node_selector).to.deep.equal({ zone: 'a', node_id: holder.nodeId });
      const { job_id: started } = await lab.evaluate(checkpoint);
      await holder.start({ job_id: started });
      const waits = await lab.evaluate(checkpoint);
      const job = await until(async () => {
        const found = await lab.job(waits.job_id);
        return found.pending_reason?.includes('waiting for 1 free GPU') ? found : null;
      });
      expect(job?.status).to.equal('QUEUED');
      expect(other.count('dispatch')).to.equal(0);
    });

    it('is the node that the request names', async () => {
      lab = await Lab.open({ database });
      const { run } = await lab.trained(await lab.agent({ name: 'holder' }));
      const other = await lab.agent({ name: 'other' });
      const { job_id } = await lab.evaluate(await lab.checkpoint(run), { node_selector: { node: 'other' } });
      expect((await lab.job(job_id)).node_selector).to.deep.equal({ node: 'other' });
      await other.start({ job_id });
    });

    it('is preferably the node that holds the checkpoint, and any other when the path is shared', async () => {
      lab = await Lab.open({ database, options: { shared_paths: ['/shared'] } });
      const holder = await lab.agent({ name: 'holder', max_cpu_jobs: 1 });
      const { run } = await lab.trained(holder, { resources: { cpu_only: true } });
      const other = await lab.agent({ name: 'other', max_cpu_jobs: 4 });
      const near = await lab.checkpoint(run, 1, '/sharedbutnot/checkpoint-1');
      const shared = await lab.checkpoint(run, 2, '/shared/checkpoint-2');
      const bound = await lab.job((await lab.evaluate(near, { node_selector: { zone: 'a' } })).job_id);
      expect(bound.node_selector).to.deep.equal({ zone: 'a', node_id: holder.nodeId });
      const first = await lab.evaluate(shared);
      expect((await lab.job(first.job_id)).node_selector).to.deep.equal({});
      await holder.start({ job_id: first.job_id });
      const second = await lab.evaluate(shared);
      await other.start({ job_id: second.job_id });
    });

    it('is no other node when the one that holds the checkpoint was removed, unless the request names it or the path is shared', async () => {
      lab = await Lab.open({ database, options: { shared_paths: ['/shared'] } });
      const holder = await lab.agent({ name: 'holder' });
      const { run } = await lab.trained(holder);
      const [checkpoint, shared] = [
        await lab.checkpoint(run),
        await lab.checkpoint(run, 2, '/shared/checkpoint-2'),
      ];
      await lab.agent({ name: 'other' });
      const queued = await lab.evaluate(checkpoint, { node_selector: { zone: 'a' } });
      await lab.request('POST', `/nodes/${holder.nodeId}/drain`);
      await holder.close();
      await until(async () => (await lab.request('DELETE', `/nodes/${holder.nodeId}`)).status === 200);
      const body = { command: ['eval'] };
      const refused = await lab.request('POST', `/checkpoints/${checkpoint.id}/evaluations`, body);
      expect([refused.status, refused.body.error.code]).to.deep.equal([409, 'conflict']);
      expect(refused.body.error.message)
        .to.contain(`the node that holds the checkpoint ${checkpoint.path} has been removed`)
        .and.contain('node_selector')
        .and.contain('shared_paths');
      expect(refused.body.error.details).to.deep.equal({ node_id: holder.nodeId });
      const node_selector = { node: 'other' };
      const named = await lab.evaluate(checkpoint, { node_selector });
      expect((await lab.job(named.job_id)).node_selector).to.deep.equal(node_selector);
      expect((await lab.job((await lab.evaluate(shared)).job_id)).node_selector).to.deep.equal({});
      const waits = await until(async () => {
        const job = await lab.job(queued.job_id);
        return job.pending_reason?.includes('no online node matches') ? job : null;
      });
      expect(waits?.pending_reason).to.contain(`node_id=${holder.nodeId}`);
    });

    it('is any node when svc does not know which one holds the checkpoint: the training ran outside of a job', async () => {
      lab = await Lab.open({ database });
      const run = await lab.createRun();
      const { job_id } = await lab.evaluate(await lab.checkpoint(run));
      expect((await lab.job(job_id)).node_selector).to.deep.equal({});
    });
  });

  describe('an evaluation of a checkpoint that is removed meanwhile', () => {
    it('is 404, and leaves no job', async () => {
      const removal = definePlugin({
        name: 'removal',
        requires: ['jobs'],
        setup(ctx) {
          ctx.tap(jobDraft, async (draft) => {
            if (draft.type === 'EVALUATE') await ctx.db('checkpoints').delete();
            return draft;
          });
        },
      });
      const lab = await Lab.open({ database, plugin: removal() });
      const checkpoint = await lab.checkpoint(await lab.createRun());
      const path = `/checkpoints/${checkpoint.id}/evaluations`;
      const { status, body } = await lab.request('POST', path, { command: ['eval'] });
      expect([status, body.error.message]).to.deep.equal([404, `no checkpoint "${checkpoint.id}"`]);
      expect((await lab.get<{ items: unknown[] }>('/jobs')).items).to.deep.equal([]);
      await lab.close();
    });
  });

  describe('a result that never comes', () => {
    it('ends its evaluation as FAILED, and changes nothing when it comes later', async () => {
      const clock = fakeClock();
      const lab = await Lab.open({ database, clock, options: { result_timeout_s: 60 } });
      const agent = await lab.agent();
      const { run } = await lab.trained(agent);
      const evaluation = await lab.evaluate(await lab.checkpoint(run));
      const key = await agent.start({ job_id: evaluation.job_id });
      await lab.reach(evaluation.job_id, 'RUNNING');
      agent.ended(key, OK);
      await lab.reach(evaluation.job_id, 'SUCCEEDED');
      await clock.advance(45_000);
      expect((await lab.evaluation(evaluation.id)).status).to.equal('QUEUED');
      await clock.advance(30_000);
      const done = await lab.settle(evaluation.id, 'FAILED');
      expect(done.error).to.match(/has not sent the result within 60 s/);
      expect((await lab.finished(evaluation.id)).map(({ severity }) => severity)).to.deep.equal(['warning']);
      await lab.send(agent, key);
      expect(await lab.evaluation(evaluation.id)).to.deep.equal(done);
      await lab.close();
    });
  });
});
