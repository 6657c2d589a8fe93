import {
  newId,
  type CheckpointComparison,
  type Experiment,
  type Run,
  type RunComparison,
} from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Lab } from './support/lab.js';

eachDatabase((database) => {
  describe('comparisons', () => {
    let lab: Lab;
    let experiment: Experiment;

    before(async () => (lab = await Lab.open(database)));
    after(() => lab.close());
    beforeEach(async () => (experiment = await lab.experiment()));

    const toIds = (records: readonly { id: string }[]) => records.map(({ id }) => id).join(',');
    const compareRuns = (runs: readonly Run[], query = '&metric=acc') =>
      lab.get<RunComparison>(`/runs/compare?ids=${toIds(runs)}${query}`);
    const compareCheckpoints = (checkpoints: readonly { id: string }[], query = '&metric=acc') =>
      lab.get<CheckpointComparison>(`/checkpoints/compare?ids=${toIds(checkpoints)}${query}`);

    describe('of runs', () => {
      it('rule 2: prefer an evaluation to the training, and show best and latest apart', async () => {
        const [evaluated, trained, without] = [
          await lab.run(experiment, 'evaluated'),
          await lab.run(experiment, 'trained'),
          await lab.run(experiment, 'without'),
        ] as const;
        await lab.log(evaluated, 'acc', [
          [1, 0.99],
          [2, 0.98],
        ]);
        await lab.log(trained, 'acc', [
          [1, 0.7],
          [2, 0.6],
        ]);
        const checkpoint = await lab.checkpoint(evaluated, 2);
        await lab.evaluated(checkpoint, { acc: 0.4 }, { suite: 'a' });
        const evaluation_id = await lab.evaluated(checkpoint, { acc: 0.5 }, { suite: 'a' });
        const answer = await compareRuns([without, evaluated, trained]);
        expect(answer).to.deep.include({
          metric: 'acc',
          direction: 'maximize',
          best_run_id: trained.id,
          tied_ids: [],
          protocol: { suite: 'a', dataset: null, dataset_version: null },
        });
        expect(answer.entries).to.deep.equal([
          {
            run_id: trained.id,
            name: 'trained',
            best: 0.7,
            best_source: 'training_fallback',
            latest: 0.6,
            step: 1,
            evaluation_id: null,
            rank: 1,
            is_best: true,
          },
          {
            run_id: evaluated.id,
            name: 'evaluated',
            best: 0.5,
            best_source: 'evaluation',
            latest: 0.98,
            step: 2,
            evaluation_id,
            rank: 2,
            is_best: false,
          },
          {
            run_id: without.id,
            name: 'without',
            best: null,
            best_source: null,
            latest: null,
            step: null,
            evaluation_id: null,
            rank: null,
            is_best: false,
          },
        ]);
        expect(answer.next_actions.map(({ tool }) => tool)).to.deep.equal([
          'get_best_checkpoint',
          'get_run_summary',
        ]);
      });

      it('rule 1: follow the direction', async () => {
        const runs = [await lab.run(experiment), await lab.run(experiment)];
        for (const [index, run] of runs.entries())
          await lab.log(run, 'loss', [
            [1, index],
            [2, index + 10],
          ]);
        const { direction, best_run_id, entries } = await compareRuns(runs, '&metric=loss');
        expect([direction, best_run_id]).to.deep.equal(['minimize', runs[0]!.id]);
        expect(entries.map(({ best, latest, rank }) => [best, latest, rank])).to.deep.equal([
          [0, 10, 1],
          [1, 11, 2],
        ]);
      });

      it('rule 4: equal values share a rank; the run without OVERFITTING_SUSPECTED wins', async () => {
        const runs = [await lab.run(experiment), await lab.run(experiment), await lab.run(experiment)];
        for (const [index, value] of [0.9, 0.9, 0.1].entries())
          await lab.log(runs[index]!, 'acc', [[1, value]]);
        await lab.event(runs[0]!, 'OVERFITTING_SUSPECTED');
        const { entries, best_run_id, tied_ids } = await compareRuns(runs);
        expect(best_run_id).to.equal(runs[1]!.id);
        expect(tied_ids).to.have.members([runs[0]!.id, runs[1]!.id]);
        expect(entries.map(({ run_id, rank, is_best }) => [run_id, rank, is_best])).to.deep.equal([
          [runs[1]!.id, 1, true],
          [runs[0]!.id, 1, false],
          [runs[2]!.id, 3, false],
        ]);
      });

      it('use the primary metric of what the runs share', async () => {
        const runs = [await lab.run(experiment), await lab.run(experiment)];
        for (const run of runs) await lab.log(run, 'f1', [[1, 0.5]]);
        const path = `/runs/compare?ids=${toIds(runs)}`;
        const { details } = await lab.refused(path, 422, 'validation_error');
        expect(details.errors?.map(({ path: field }) => field)).to.deep.equal(['metric']);
        await lab.set('PUT', '/primary-metric', { name: 'f1', experiment_id: experiment.id });
        expect((await compareRuns(runs, '')).metric).to.equal('f1');
      });

      it('of a metric that does not exist, or of runs with no points, are all null, whatever its direction', async () => {
        const runs = [await lab.run(experiment), await lab.run(null)];
        const { entries, best_run_id, protocol } = await compareRuns(runs, '&metric=nobody');
        expect([best_run_id, protocol]).to.deep.equal([null, null]);
        expect(entries.map(({ best, rank, is_best }) => [best, rank, is_best])).to.deep.equal([
          [null, null, false],
          [null, null, false],
        ]);
      });

      it('give NaN and infinities no rank, before the runs without a value', async () => {
        const runs = [await lab.run(experiment), await lab.run(experiment), await lab.run(experiment)];
        await lab.evaluated(await lab.checkpoint(runs[1]!, 1), { acc: 'Infinity' });
        await lab.evaluated(await lab.checkpoint(runs[2]!, 1), { acc: 0.1 });
        const { entries } = await compareRuns(runs);
        expect(entries.map(({ best, rank }) => [best, rank])).to.deep.equal([
          [0.1, 1],
          ['Infinity', null],
          [null, null],
        ]);
      });

      it('refuse several protocols without a filter', async () => {
        const runs = [await lab.run(experiment), await lab.run(experiment)];
        for (const [index, run] of runs.entries())
          await lab.evaluated(await lab.checkpoint(run, 1), { acc: 0.5 }, { suite: `s${index}` });
        const path = `/runs/compare?ids=${toIds(runs)}&metric=acc`;
        const { details } = await lab.refused(path, 422, 'validation_error');
        expect(details.protocols).to.have.length(2);
        expect((await compareRuns(runs, '&metric=acc&suite=s1')).best_run_id).to.equal(runs[1]!.id);
      });
    });

    describe('of checkpoints', () => {
      it('rule 2: of different experiments prefer an evaluation to the training, and name the best', async () => {
        const [a, b] = [await lab.run(experiment), await lab.run(await lab.experiment())] as const;
        await lab.log(a, 'acc', [
          [1, 0.5],
          [2, 0.9],
          [3, 0.6],
        ]);
        const [first, second, other] = [
          await lab.checkpoint(a, 1),
          await lab.checkpoint(a, 3),
          await lab.checkpoint(b, 7),
        ] as const;
        const evaluation_id = await lab.evaluated(other, { acc: 0.7 }, { dataset: 'digits' });
        const answer = await compareCheckpoints([first, second, other]);
        expect(answer).to.deep.include({
          best_checkpoint_id: second.id,
          tied_ids: [],
          protocol: { suite: null, dataset: 'digits', dataset_version: null },
        });
        expect(
          answer.entries.map(({ checkpoint_id, best, best_source, latest, step, rank, is_best }) => [
            checkpoint_id,
            best,
            best_source,
            latest,
            step,
            rank,
            is_best,
          ]),
        ).to.deep.equal([
          [second.id, 0.9, 'training_fallback', 0.6, 2, 1, true],
          [other.id, 0.7, 'evaluation', null, 7, 2, false],
          [first.id, 0.5, 'training_fallback', 0.5, 1, 3, false],
        ]);
        expect(answer.entries[1]).to.include({
          evaluation_id,
          run_id: b.id,
          name: other.path.split('/').at(-1),
        });
        const [evaluate] = answer.next_actions;
        expect(evaluate).to.deep.include({
          tool: 'evaluate_checkpoint',
          args: { checkpoint_id: second.id, command: ['eval.sh', 'now'], dataset: 'digits' },
        });
      });

      it('count for the training only what was logged behind the checkpoint before, also one that is not compared', async () => {
        const run = await lab.run(experiment);
        await lab.log(run, 'acc', [
          [1, 0.9],
          [2, 0.1],
          [3, 0.2],
        ]);
        const saved = [];
        for (const step of [1, 2, 3]) saved.push(await lab.checkpoint(run, step));
        const { entries } = await compareCheckpoints([saved[1]!, saved[2]!]);
        expect(entries.map(({ best }) => best)).to.deep.equal([0.2, 0.1]);
      });

      it('of one step tie', async () => {
        const run = await lab.run(experiment);
        await lab.log(run, 'acc', [[1, 0.9]]);
        const [a, b] = [await lab.checkpoint(run, 1), await lab.checkpoint(run, 1)] as const;
        const { best_checkpoint_id, tied_ids } = await compareCheckpoints([b, a]);
        expect(best_checkpoint_id).to.equal(a.id);
        expect(tied_ids).to.deep.equal([a.id, b.id]);
      });

      it('of a run without points, or without a step, have null', async () => {
        const run = await lab.run(experiment);
        await lab.log(run, 'acc', [[1, 0.9]]);
        const saved = [await lab.checkpoint(await lab.run(experiment), 1), await lab.checkpoint(run, null)];
        const { entries, best_checkpoint_id } = await compareCheckpoints(saved);
        expect([best_checkpoint_id, ...entries.map(({ best }) => best)]).to.deep.equal([null, null, null]);
      });
    });

    describe('bad input', () => {
      for (const [kind, path] of [
        ['run', '/runs/compare'],
        ['checkpoint', '/checkpoints/compare'],
      ] as const) {
        it(`${path}: ids missing, one, 51, doubled, of other kinds, unknown`, async () => {
          const made = async () => {
            const run = await lab.run(experiment);
            return kind === 'run' ? run : lab.checkpoint(run, 1);
          };
          const [a, b] = [await made(), await made()];
          const refused = (ids: string, status: number, code: string) =>
            lab.refused(`${path}?metric=acc&ids=${ids}`, status, code);
          await lab.refused(`${path}?metric=acc`, 422, 'validation_error');
          for (const ids of [
            '',
            a.id,
            `${a.id},${a.id}`,
            `${a.id},${b.id},${a.id.split('_')[1]!.toLowerCase()}`,
          ]) {
            const { details } = await refused(ids, 422, 'validation_error');
            expect(
              details.errors?.map(({ path: field }) => field),
              ids,
            ).to.deep.equal(['ids']);
          }
          const many = Array.from({ length: 51 }, () => newId(kind)).join(',');
          expect((await refused(many, 422, 'validation_error')).message).to.match(/2 to 50, not 51/);
          for (const other of [
            newId(kind),
            newId('job'),
            'nonsense',
            newId(kind === 'run' ? 'checkpoint' : 'run'),
          ])
            expect((await refused(`${a.id},${other}`, 404, 'not_found')).message).to.contain(other);
          await refused(`${a.id},`, 404, 'not_found');
        });
      }
    });
  });
});
