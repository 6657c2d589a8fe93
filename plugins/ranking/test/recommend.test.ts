import { newId, type BestCheckpoint, type Experiment, type ListedCheckpoint, type Run } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { checkpointsRef } from '@svc/plugin-checkpoints';
import { expect } from 'chai';
import { Lab } from './support/lab.js';

eachDatabase((database) => {
  describe('the best checkpoint', () => {
    let lab: Lab;
    let experiment: Experiment;
    let run: Run;

    before(async () => (lab = await Lab.open(database)));
    after(() => lab.close());
    beforeEach(async () => {
      experiment = await lab.experiment();
      run = await lab.run(experiment);
    });

    const recommend = (query: string) => lab.get<BestCheckpoint>(`/checkpoints:recommend?${query}`);

    describe(':recommend', () => {
      it('is for a run, for an experiment, or for a run of that experiment', async () => {
        const other = await lab.run(experiment);
        const mine = await lab.checkpoint(run, 1);
        const theirs = await lab.checkpoint(other, 1);
        await lab.evaluated(mine, { acc: 0.1 });
        await lab.evaluated(theirs, { acc: 0.2 });
        expect((await recommend(`run_id=${run.id}&metric=acc`)).checkpoint_id).to.equal(mine.id);
        const inBoth = `run_id=${run.id.slice(4)}&experiment_id=${experiment.id}&metric=acc`;
        expect((await recommend(inBoth)).checkpoint_id).to.equal(mine.id);
        expect((await recommend(`experiment_id=${experiment.id}&metric=acc`)).checkpoint_id).to.equal(
          theirs.id,
        );
      });

      it('is none that is deleted', async () => {
        const checkpoints = lab.kernel.use(checkpointsRef);
        const [lower, best] = [await lab.checkpoint(run, 1), await lab.checkpoint(run, 2)];
        await lab.evaluated(lower, { acc: 0.1 });
        await lab.evaluated(best, { acc: 0.2 });
        await checkpoints.markGone(run.id, best.path, Date.now());
        const query = `run_id=${run.id}&metric=acc`;
        expect((await recommend(query)).checkpoint_id).to.equal(lower.id);
        await checkpoints.markGone(run.id, lower.path, Date.now());
        const { message } = await lab.refused(`/checkpoints:recommend?${query}`, 404, 'not_found');
        expect(message).to.contain('2 of 2 are deleted');
      });

      it('bad input: neither, a run of another experiment, unknown ids, an unknown parameter', async () => {
        await lab.refused('/checkpoints:recommend?metric=acc', 422, 'validation_error');
        const other = await lab.experiment();
        await lab.refused(
          `/checkpoints:recommend?run_id=${run.id}&experiment_id=${other.id}`,
          422,
          'validation_error',
        );
        await lab.refused(`/checkpoints:recommend?run_id=${newId('run')}`, 404, 'not_found');
        await lab.refused(`/checkpoints:recommend?run_id=${experiment.id}`, 404, 'not_found');
        await lab.refused(`/checkpoints:recommend?experiment_id=${newId('experiment')}`, 404, 'not_found');
        await lab.refused(`/experiments/${newId('experiment')}/best-checkpoint`, 404, 'not_found');
        await lab.refused(`/checkpoints:recommend?run_id=${run.id}&metrc=acc`, 422, 'validation_error');
        await lab.refused(`/checkpoints:recommend?run_id=${run.id}&metric=a%00`, 422, 'validation_error');
        await lab.refused(
          `/checkpoints:recommend?run_id=${run.id}&metric=acc&suite=a%00`,
          422,
          'validation_error',
        );
      });
    });

    describe('in the list of a run', () => {
      const marked = async () =>
        (await lab.get<{ items: ListedCheckpoint[] }>(`/runs/${run.id}/checkpoints`)).items.map(
          ({ id, is_best }) => [id, is_best],
        );

      it('is marked', async () => {
        await lab.set('PUT', '/primary-metric', { name: 'acc', experiment_id: experiment.id });
        const [first, second] = [await lab.checkpoint(run, 1), await lab.checkpoint(run, 2)];
        expect(await marked()).to.deep.equal([
          [second.id, false],
          [first.id, false],
        ]);
        await lab.log(run, 'acc', [
          [1, 0.9],
          [2, 0.1],
        ]);
        expect(await marked()).to.deep.equal([
          [second.id, false],
          [first.id, true],
        ]);
        await lab.evaluated(second, { acc: 0.2 }, { suite: 'a' });
        expect(await marked()).to.deep.equal([
          [second.id, true],
          [first.id, false],
        ]);
      });

      it('is not marked when nobody can say which it is', async () => {
        const checkpoint = await lab.checkpoint(run, 1);
        await lab.evaluated(checkpoint, { acc: 0.2 }, { suite: 'a' });
        expect(await marked()).to.deep.equal([[checkpoint.id, false]]);
        await lab.set('PUT', '/primary-metric', { name: 'acc', experiment_id: experiment.id });
        expect(await marked()).to.deep.equal([[checkpoint.id, true]]);
        await lab.evaluated(checkpoint, { acc: 0.2 }, { suite: 'b' });
        expect(await marked()).to.deep.equal([[checkpoint.id, false]]);
      });
    });
  });
});
