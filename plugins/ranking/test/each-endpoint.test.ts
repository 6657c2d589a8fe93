import type {
  BestCheckpoint,
  Checkpoint,
  CheckpointComparison,
  Experiment,
  Run,
  RunComparison,
} from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Lab } from './support/lab.js';

type Answer = BestCheckpoint & RunComparison & CheckpointComparison;

/** Two runs of one experiment, each with a checkpoint. */
interface Pair {
  readonly experiment: Experiment;
  readonly runs: readonly [Run, Run];
  readonly saved: readonly [Checkpoint, Checkpoint];
}

const toIds = (records: readonly { readonly id: string }[]) => records.map(({ id }) => id).join(',');

/** The endpoints that rank, as the specification lists them: where they are, and which of the two an answer names as the best. */
const ENDPOINTS: readonly (readonly [
  name: string,
  url: (pair: Pair) => string,
  best: (answer: Answer, pair: Pair) => number,
])[] = [
  [
    'GET /checkpoints:recommend',
    ({ experiment }) => `/checkpoints:recommend?experiment_id=${experiment.id}`,
    ({ checkpoint_id }, { saved }) => saved.findIndex(({ id }) => id === checkpoint_id),
  ],
  [
    'GET /experiments/{experiment_id}/best-checkpoint',
    ({ experiment }) => `/experiments/${experiment.id}/best-checkpoint?`,
    ({ checkpoint_id }, { saved }) => saved.findIndex(({ id }) => id === checkpoint_id),
  ],
  [
    'GET /runs/compare',
    ({ runs }) => `/runs/compare?ids=${toIds(runs)}`,
    ({ best_run_id }, { runs }) => runs.findIndex(({ id }) => id === best_run_id),
  ],
  [
    'GET /checkpoints/compare',
    ({ saved }) => `/checkpoints/compare?ids=${toIds(saved)}`,
    ({ best_checkpoint_id }, { saved }) => saved.findIndex(({ id }) => id === best_checkpoint_id),
  ],
];

eachDatabase((database) => {
  describe('what holds of every ranking', () => {
    let lab: Lab;
    let pair: Pair;

    before(async () => (lab = await Lab.open(database)));
    after(() => lab.close());
    beforeEach(async () => {
      const experiment = await lab.experiment();
      const runs = [await lab.run(experiment, 'first'), await lab.run(experiment, 'second')] as const;
      const saved = [await lab.checkpoint(runs[0], 1), await lab.checkpoint(runs[1], 1)] as const;
      pair = { experiment, runs, saved };
    });

    for (const [name, url, best] of ENDPOINTS)
      describe(name, () => {
        const ask = (query: string) => lab.get<Answer>(`${url(pair)}&${query}`);
        const bestBy = async (query: string) => best(await ask(query), pair);

        it('rule 1: follows the metric direction, maximize or minimize', async () => {
          for (const [index, checkpoint] of pair.saved.entries())
            await lab.evaluated(checkpoint, { acc: index, loss: index });
          expect(await ask('metric=acc')).to.include({ metric: 'acc', direction: 'maximize' });
          expect(await ask('metric=loss')).to.include({ metric: 'loss', direction: 'minimize' });
          expect([await bestBy('metric=acc'), await bestBy('metric=loss')]).to.deep.equal([1, 0]);
        });

        it('ranks by the primary metric when none is named', async () => {
          for (const [index, checkpoint] of pair.saved.entries())
            await lab.evaluated(checkpoint, { acc: index, f1: 1 - index });
          await lab.set('PUT', '/primary-metric', { name: 'f1', experiment_id: pair.experiment.id });
          expect([(await ask('')).metric, await bestBy('')]).to.deep.equal(['f1', 0]);
        });

        it('prefers a SUCCEEDED evaluation to a better value of the training (rules 2 and 3)', async () => {
          await lab.log(pair.runs[0], 'loss', [[1, 0.1]]);
          await lab.log(pair.runs[1], 'loss', [[1, 0.2]]);
          expect(await bestBy('metric=loss')).to.equal(0);
          for (const [index, value] of [0.9, 0.8].entries())
            await lab.evaluated(pair.saved[index]!, { loss: value });
          await lab.evaluated(pair.saved[0], { loss: 0.01 }, {}, 'FAILED');
          expect(await bestBy('metric=loss')).to.equal(1);
        });

        it('rule 4: of equal values the run without an OVERFITTING_SUSPECTED event wins, and the tied ones are listed', async () => {
          for (const checkpoint of pair.saved) await lab.evaluated(checkpoint, { acc: 0.9 });
          expect(await bestBy('metric=acc')).to.equal(0);
          await lab.event(pair.runs[0], 'OVERFITTING_SUSPECTED');
          const answer = await ask('metric=acc');
          expect(best(answer, pair)).to.equal(1);
          const of = name.includes('/runs/') ? pair.runs : pair.saved;
          expect(answer.tied_checkpoint_ids ?? answer.tied_ids).to.have.members(of.map(({ id }) => id));
        });

        it('filters by suite, by dataset and by dataset_version', async () => {
          for (const [index, checkpoint] of pair.saved.entries()) {
            const labels = { suite: `s${index}`, dataset: `d${index}`, dataset_version: `v${index}` };
            await lab.evaluated(checkpoint, { acc: 0.5 }, labels);
          }
          for (const index of [0, 1])
            for (const filter of [`suite=s${index}`, `dataset=d${index}`, `dataset_version=v${index}`])
              expect(await bestBy(`metric=acc&${filter}`), filter).to.equal(index);
        });

        it('refuses several protocol combinations without a filter: the validation error asks for suite, dataset and dataset_version, and lists them', async () => {
          const labels = [
            { suite: 'heldout', dataset: 'digits', dataset_version: '1' },
            { suite: 'ood', dataset: 'letters', dataset_version: '2' },
          ];
          for (const [index, checkpoint] of pair.saved.entries())
            await lab.evaluated(checkpoint, { acc: 0.5 }, labels[index]);
          const { message, details } = await lab.refused(`${url(pair)}&metric=acc`, 422, 'validation_error');
          expect(message).to.contain('give suite, dataset and dataset_version');
          expect(details.protocols).to.have.deep.members(labels.map((each) => ({ ...each, evaluations: 1 })));
          expect(details.errors?.map(({ path }) => path)).to.deep.equal(Object.keys(labels[0]!));
        });

        it('refuses several combinations that a filter of one label leaves, and asks for the others', async () => {
          for (const [index, checkpoint] of pair.saved.entries())
            await lab.evaluated(checkpoint, { acc: 0.5 }, { suite: 'heldout', dataset: `d${index}` });
          const { details } = await lab.refused(
            `${url(pair)}&metric=acc&suite=heldout`,
            422,
            'validation_error',
          );
          expect(details.errors?.map(({ path }) => path)).to.deep.equal(['dataset']);
        });

        it('rule 8: carries next_actions, a list of {tool, args, reason}', async () => {
          await lab.evaluated(pair.saved[0], { acc: 0.5 });
          const { next_actions } = await ask('metric=acc');
          expect(next_actions).to.not.deep.equal([]);
          for (const action of next_actions) expect(action).to.have.all.keys('tool', 'args', 'reason');
        });

        it('says of a metric that nobody has that there is no value, and guesses none', async () => {
          await lab.evaluated(pair.saved[0], { acc: 0.5 });
          if (name.includes('compare')) {
            const { entries } = await ask('metric=nobody');
            for (const { best: value, rank, is_best } of entries)
              expect([value, rank, is_best]).to.deep.equal([null, null, false]);
          } else await lab.refused(`${url(pair)}&metric=nobody`, 404, 'not_found');
        });
      });
  });
});
