import { type BestCheckpoint, type Experiment, type Run } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
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

    const best = (query = '', of = experiment) =>
      lab.get<BestCheckpoint>(`/experiments/${of.id}/best-checkpoint${query}`);
    const recommend = (query: string) => lab.get<BestCheckpoint>(`/checkpoints:recommend?${query}`);

    describe('rule 1: follows the direction of the metric', () => {
      for (const [metric, direction, expected] of [
        ['loss', 'minimize', 0],
        ['acc', 'maximize', 2],
      ] as const) {
        it(`${direction} for ${metric}`, async () => {
          const saved = [];
          for (const [index, value] of [0.1, 0.5, 0.9].entries()) {
            saved.push(await lab.checkpoint(run, index));
            await lab.evaluated(saved[index]!, { [metric]: value });
          }
          const found = await best(`?metric=${metric}`);
          expect(found).to.deep.include({ metric, direction, checkpoint_id: saved[expected]!.id });
        });
      }

      it('as somebody has set it, whatever the name tells', async () => {
        const [low, high] = [await lab.checkpoint(run, 1), await lab.checkpoint(run, 2)];
        await lab.evaluated(low, { loss: 0.1 });
        await lab.evaluated(high, { loss: 0.9 });
        expect((await best('?metric=loss')).checkpoint_id).to.equal(low.id);
        await lab.set('PUT', '/metric-definitions/loss', {
          direction: 'maximize',
          experiment_id: experiment.id,
        });
        expect(await best('?metric=loss')).to.deep.include({ checkpoint_id: high.id, direction: 'maximize' });
      });

      it('as the trainings have set it for their runs, if they agree', async () => {
        const other = await lab.run(experiment);
        const [low, high] = [await lab.checkpoint(run, 1), await lab.checkpoint(other, 2)];
        await lab.evaluated(low, { quality: 0.1 });
        await lab.evaluated(high, { quality: 0.9 });
        await lab.refused(
          `/experiments/${experiment.id}/best-checkpoint?metric=quality`,
          422,
          'validation_error',
        );
        const define = (of: Run, direction: string) =>
          lab.set('PUT', `/runs/${of.id}/metric-definitions/quality`, { direction });
        await define(run, 'maximize');
        expect((await best('?metric=quality')).checkpoint_id).to.equal(high.id);
        await define(other, 'minimize');
        const { message, details } = await lab.refused(
          `/experiments/${experiment.id}/best-checkpoint?metric=quality`,
          422,
          'validation_error',
        );
        expect(message).to.match(/is not the same in all of these runs/);
        expect(details.errors?.map(({ path }) => path)).to.deep.equal(['metric']);
      });

      it('never guesses it: an unknown one is a validation error that says how to set it', async () => {
        await lab.evaluated(await lab.checkpoint(run, 1), { mystery: 1 });
        const path = `/experiments/${experiment.id}/best-checkpoint?metric=mystery`;
        const { message } = await lab.refused(path, 422, 'validation_error');
        expect(message).to.match(/direction of "mystery" is not known.*PUT .*metric-definitions\/mystery/);
      });
    });

    describe('rule 3: evaluations first', () => {
      it('an evaluation outranks a better value of the training', async () => {
        await lab.log(run, 'acc', [
          [1, 0.99],
          [2, 0.6],
        ]);
        const first = await lab.checkpoint(run, 1);
        const second = await lab.checkpoint(run, 2);
        expect((await best('?metric=acc')).checkpoint_id).to.equal(first.id);
        const evaluation_id = await lab.evaluated(second, { acc: 0.5 });
        const found = await best('?metric=acc');
        expect(found).to.deep.include({
          checkpoint_id: second.id,
          run_id: run.id,
          value: 0.5,
          step: 2,
          value_step: 2,
          direction: 'maximize',
          source: 'evaluation',
          evaluation_id,
          tied_checkpoint_ids: [],
        });
        expect(found.checkpoint).to.deep.equal(await lab.get(`/checkpoints/${second.id}`));
      });

      it('falls back to the training: the best value at the step of the checkpoint, or between the one before and it', async () => {
        await lab.log(run, 'loss', [
          [5, 0.9],
          [10, 0.8],
          [12, 0.2],
          [20, 0.7],
          [21, 0.1],
        ]);
        const first = await lab.checkpoint(run, 10);
        const second = await lab.checkpoint(run, 20);
        await lab.checkpoint(run, null);
        const found = await best('?metric=loss');
        expect(found).to.deep.include({
          checkpoint_id: second.id,
          value: 0.2,
          step: 20,
          value_step: 12,
          source: 'training_fallback',
          evaluation_id: null,
        });
        expect((await recommend(`run_id=${run.id}&metric=loss`)).checkpoint_id).to.equal(second.id);
        await lab.log(run, 'loss', [[3, 0.05]]);
        expect(await best('?metric=loss')).to.deep.include({ checkpoint_id: first.id, value: 0.05 });
      });

      it('the training of a run with many points, of every stretch', async () => {
        const points = Array.from(
          { length: 5000 },
          (_, step) => [step, step === 3333 ? 0.001 : 1 + (step % 7)] as const,
        );
        await lab.log(run, 'loss', points);
        for (const step of [1000, 2000, 3000, 4000]) await lab.checkpoint(run, step);
        const found = await best('?metric=loss');
        expect([found.step, found.value_step, found.value]).to.deep.equal([4000, 3333, 0.001]);
      });

      it('an evaluation that has FAILED, or lacks the metric, does not count', async () => {
        await lab.log(run, 'acc', [[1, 0.7]]);
        const checkpoint = await lab.checkpoint(run, 1);
        await lab.evaluated(checkpoint, { acc: 0.9 }, {}, 'FAILED');
        await lab.evaluated(checkpoint, { f1: 0.9 });
        expect(await best('?metric=acc')).to.deep.include({ source: 'training_fallback', value: 0.7 });
      });

      it('of several evaluations of one checkpoint the best value counts', async () => {
        const checkpoint = await lab.checkpoint(run, 1);
        await lab.evaluated(checkpoint, { acc: 0.7 });
        const evaluation_id = await lab.evaluated(checkpoint, { acc: 0.9 });
        await lab.evaluated(checkpoint, { acc: 0.8 });
        expect(await best('?metric=acc')).to.deep.include({ value: 0.9, evaluation_id });
      });

      it('a value that is not finite is never the best, and its checkpoint does not fall back', async () => {
        await lab.log(run, 'loss', [
          [1, 0.1],
          [2, 0.5],
        ]);
        const diverged = await lab.checkpoint(run, 1);
        const sound = await lab.checkpoint(run, 2);
        await lab.evaluated(diverged, { loss: 'NaN' });
        expect(await best('?metric=loss')).to.deep.include({
          checkpoint_id: sound.id,
          source: 'training_fallback',
        });
        await lab.evaluated(diverged, { loss: '-Infinity' });
        await lab.evaluated(sound, { loss: 3 });
        expect(await best('?metric=loss')).to.deep.include({ checkpoint_id: sound.id, value: 3 });
      });

      it('reads names of metrics as they are', async () => {
        for (const metric of ['eval/"top1".acc', "it's $.acc", 'größe % acc', 'a\\b acc']) {
          const checkpoint = await lab.checkpoint(run, 1);
          await lab.evaluated(checkpoint, { [metric]: 0.5, other: 1 });
          await lab.set('PUT', `/metric-definitions/${encodeURIComponent(metric)}`, {
            direction: 'maximize',
          });
          const found = await best(`?metric=${encodeURIComponent(metric)}`);
          expect([found.checkpoint_id, found.value], metric).to.deep.equal([checkpoint.id, 0.5]);
        }
      });
    });

    describe('rule 4: ties', () => {
      it('are won by the run without OVERFITTING_SUSPECTED, and listed', async () => {
        const sound = await lab.run(experiment);
        const suspect = await lab.checkpoint(run, 1);
        const other = await lab.checkpoint(sound, 1);
        await lab.evaluated(suspect, { acc: 0.9 });
        await lab.evaluated(other, { acc: 0.9 });
        await lab.evaluated(await lab.checkpoint(sound, 2), { acc: 0.8 });
        const before = await best('?metric=acc');
        expect(before.checkpoint_id).to.equal(suspect.id);
        expect(before.tied_checkpoint_ids).to.deep.equal([suspect.id, other.id]);
        expect(before.next_actions[0]).to.deep.include({ tool: 'compare_checkpoints' });
        await lab.event(run, 'OVERFITTING_SUSPECTED');
        const after = await best('?metric=acc');
        expect(after.checkpoint_id).to.equal(other.id);
        expect(after.tied_checkpoint_ids).to.have.members([suspect.id, other.id]);
        await lab.event(sound, 'OVERFITTING_SUSPECTED');
        expect((await best('?metric=acc')).checkpoint_id).to.equal(suspect.id);
      });
    });

    describe('rule 5: without a value it is 404 with both remedies', () => {
      const REMEDIES = [/primary metric/, /evaluate a checkpoint/, /train/];

      it('when no primary metric is set', async () => {
        await lab.evaluated(await lab.checkpoint(run, 1), { acc: 1 });
        const { message } = await lab.refused(
          `/experiments/${experiment.id}/best-checkpoint`,
          404,
          'not_found',
        );
        for (const remedy of REMEDIES) expect(message).to.match(remedy);
        await lab.refused(`/checkpoints:recommend?run_id=${run.id}`, 404, 'not_found');
      });

      it('when no checkpoint has the metric', async () => {
        await lab.set('PUT', '/primary-metric', { name: 'eval/acc', experiment_id: experiment.id });
        for (const prepare of [
          async () => {},
          async () => void (await lab.checkpoint(run, 5)),
          async () => lab.log(run, 'eval/acc', [[6, 1]]),
          async () => lab.log(run, 'eval/acc', [[5, 'NaN']]),
        ]) {
          await prepare();
          const { message } = await lab.refused(
            `/experiments/${experiment.id}/best-checkpoint`,
            404,
            'not_found',
          );
          for (const remedy of REMEDIES) expect(message).to.match(remedy);
          expect(message).to.contain('eval/acc');
        }
      });
    });

    describe('rule 5: the 404 says where it looked', () => {
      const messageOf = async (query: string) =>
        (await lab.refused(`/checkpoints:recommend?run_id=${run.id}${query}`, 404, 'not_found')).message;

      it('in which run, and whether that has a checkpoint at all', async () => {
        expect(await messageOf('&metric=acc')).to.match(new RegExp(`^${run.id} has no checkpoint`));
        await lab.checkpoint(run, 1);
        expect(await messageOf('&metric=acc')).to.match(
          new RegExp(`^no checkpoint of ${run.id} has a value`),
        );
        expect(await messageOf('')).to.contain(`no primary metric is set for ${run.id}`);
      });

      it('for which labels: a misspelt one finds nothing', async () => {
        await lab.evaluated(await lab.checkpoint(run, 1), { acc: 1 }, { suite: 'heldout' });
        expect(await messageOf('&metric=acc&suite=helout')).to.contain('evaluation with suite "helout"');
      });
    });

    describe('the metric', () => {
      it('is the primary one of the nearest level, or the one that is named', async () => {
        const [first, second] = [await lab.checkpoint(run, 1), await lab.checkpoint(run, 2)];
        await lab.evaluated(first, { acc: 0.9, loss: 0.9 });
        await lab.evaluated(second, { acc: 0.8, loss: 0.1 });
        await lab.set('PUT', '/primary-metric', { name: 'loss', project_id: experiment.project_id });
        expect(await best()).to.deep.include({ metric: 'loss', checkpoint_id: second.id });
        await lab.set('PUT', '/primary-metric', { name: 'acc', experiment_id: experiment.id });
        expect(await best()).to.deep.include({ metric: 'acc', checkpoint_id: first.id });
        expect(await best('?metric=loss')).to.deep.include({ metric: 'loss', checkpoint_id: second.id });
        await lab.set('PATCH', '/metric-definitions/loss', {
          is_primary: false,
          project_id: experiment.project_id,
        });
      });

      it('is the one that the trainings have made primary, if they agree', async () => {
        const checkpoint = await lab.checkpoint(run, 1);
        await lab.evaluated(checkpoint, { f1: 0.5 });
        await lab.set('PUT', `/runs/${run.id}/metric-definitions/f1`, { is_primary: true });
        expect(await best()).to.deep.include({ metric: 'f1', checkpoint_id: checkpoint.id });
        const other = await lab.run(experiment);
        await lab.set('PUT', `/runs/${other.id}/metric-definitions/acc`, { is_primary: true });
        await lab.refused(`/experiments/${experiment.id}/best-checkpoint`, 404, 'not_found');
        expect((await recommend(`run_id=${run.id}`)).metric).to.equal('f1');
      });
    });

    describe('the protocol', () => {
      it('of suite, dataset and dataset_version is filtered by each of them', async () => {
        const saved = await Promise.all([1, 2, 3, 4].map((step) => lab.checkpoint(run, step)));
        const labels = [
          { suite: 'heldout', dataset: 'digits', dataset_version: '1' },
          { suite: 'heldout', dataset: 'digits', dataset_version: '2' },
          { suite: 'ood', dataset: 'letters', dataset_version: '1' },
          {},
        ];
        for (const [index, each] of labels.entries())
          await lab.evaluated(saved[index]!, { acc: (index + 1) / 10 }, each);
        const index = async (query: string) => {
          const { checkpoint_id } = await best(`?metric=acc&${query}`);
          return saved.findIndex(({ id }) => id === checkpoint_id);
        };
        expect(await index('suite=ood')).to.equal(2);
        expect(await index('dataset=letters')).to.equal(2);
        expect(await index('dataset_version=2')).to.equal(1);
        expect(await index('suite=heldout&dataset=digits&dataset_version=1')).to.equal(0);
        expect(await index('suite=')).to.equal(3);
      });

      it('must be one: several without a filter are a validation error that lists the combinations', async () => {
        const checkpoint = await lab.checkpoint(run, 1);
        await lab.evaluated(checkpoint, { acc: 0.1 }, { suite: 'a' });
        await lab.evaluated(checkpoint, { acc: 0.2 }, { suite: 'a' });
        await lab.evaluated(
          checkpoint,
          { acc: 0.3 },
          { suite: 'b', dataset: 'digits', dataset_version: '2' },
        );
        await lab.evaluated(checkpoint, { f1: 0.3 }, { suite: 'c' });
        const { message, details } = await lab.refused(
          `/experiments/${experiment.id}/best-checkpoint?metric=acc`,
          422,
          'validation_error',
        );
        expect(details.errors?.map(({ path }) => path)).to.deep.equal([
          'suite',
          'dataset',
          'dataset_version',
        ]);
        expect(message).to.contain('give suite, dataset and dataset_version');
        expect(message).to.contain('suite=a dataset= dataset_version= (2 evaluations)');
        expect(message).to.contain('suite=b dataset=digits dataset_version=2 (1 evaluation)');
        expect(details.protocols).to.have.deep.members([
          { suite: 'a', dataset: null, dataset_version: null, evaluations: 2 },
          { suite: 'b', dataset: 'digits', dataset_version: '2', evaluations: 1 },
        ]);
        expect((await best('?metric=acc&suite=a')).value).to.equal(0.2);
        expect((await best('?metric=f1')).value).to.equal(0.3);
      });

      it('that nobody has used leaves the training', async () => {
        await lab.log(run, 'acc', [[1, 0.7]]);
        await lab.evaluated(await lab.checkpoint(run, 1), { acc: 0.9 }, { suite: 'a' });
        expect((await best('?metric=acc&suite=zzz')).source).to.equal('training_fallback');
      });
    });
  });
});
