import { eachDatabase, type TestDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { falling, Lab } from './support/lab.js';

eachDatabase((database: TestDatabase) => {
  describe('diagnosis: convergence (rule 6)', function () {
    this.timeout(30_000);
    let lab: Lab;
    before(async () => void (lab = await Lab.open(database)));
    after(() => lab?.close());

    const level = Array.from({ length: 64 }, (_, step) => 0.9 + (step % 2) * 0.001);

    it('holds best, best_step, latest, is_improving, is_stalled, eval_best and eval_best_step', async () => {
      const run = await lab.runWith({ 'train/loss': falling(101) });
      expect((await lab.diagnose(run)).convergence).to.deep.equal({
        metric: 'train/loss',
        is_primary: false,
        direction: 'minimize',
        trend: 'decreasing',
        best: 1 / 11,
        best_step: 100,
        latest: 1 / 11,
        latest_step: 100,
        is_improving: true,
        is_stalled: false,
        eval_best: null,
        eval_best_step: null,
        eval_protocol: null,
      });
    });

    it('is_improving is null when the trend is unknown, and is_stalled is false for unknown', async () => {
      const { convergence } = await lab.diagnose(await lab.runWith({ loss: [1, 0.9, 0.8] }));
      expect(convergence).to.include({ trend: 'unknown', is_improving: null, is_stalled: false, best: 0.8 });
    });

    it('is_stalled is true only when the trend is stable', async () => {
      const stalled = await lab.diagnose(await lab.runWith({ 'val/loss': level }));
      expect(stalled.convergence).to.include({ trend: 'stable', is_improving: false, is_stalled: true });
      const worse = falling(64).reverse();
      const rising = await lab.diagnose(await lab.runWith({ 'val/loss': worse }));
      expect(rising.convergence).to.include({ trend: 'increasing', is_improving: false, is_stalled: false });
    });

    it('the trend is the one of the summary', async () => {
      const run = await lab.runWith({ 'val/loss': level, 'train/loss': falling(64) });
      const { metrics } = (await lab.rig.get(`/runs/${run.id}/summary`)).body;
      expect((await lab.diagnose(run)).convergence.trend).to.equal(metrics['val/loss'].trend);
    });

    it('is of the epochs of the validation, not of its batches, by the names that Lightning gives', async () => {
      const losses = { valid_loss_step: level, valid_loss_epoch: falling(8), train_loss_step: level };
      const { convergence } = await lab.diagnose(await lab.runWith(losses));
      expect(convergence.metric).to.equal('valid_loss_epoch');
    });

    it('rule 1: the direction of the primary metric decides what is better', async () => {
      const run = await lab.runWith({ 'val/accuracy': falling(64).reverse(), 'train/loss': falling(64) });
      expect((await lab.diagnose(run)).convergence.metric).to.equal('train/loss');
      await lab.must('PUT', '/primary-metric', { name: 'val/accuracy', experiment_id: run.experiment_id });
      expect((await lab.diagnose(run)).convergence).to.include({
        metric: 'val/accuracy',
        is_primary: true,
        direction: 'maximize',
        best: 1,
        best_step: 63,
        is_improving: true,
      });
    });

    it('eval_best is that of the SUCCEEDED evaluations, and its step that of the checkpoint', async () => {
      const run = await lab.runWith({ 'train/loss': falling(64) });
      for (const [step, value] of [
        [10, 0.5],
        [20, 0.3],
        [30, 0.4],
      ] as const)
        await lab.evaluated(await lab.checkpoint(run, step), { 'train/loss': value });
      await lab.evaluated(await lab.checkpoint(run, 40), { 'train/loss': 'NaN' });
      const { convergence } = await lab.diagnose(run);
      expect(convergence).to.include({ eval_best: 0.3, eval_best_step: 20, best_step: 63 });
    });

    it('values of different protocols are not compared: the one with the most values is named', async () => {
      const run = await lab.runWith({ 'train/loss': falling(64) });
      const [first, second] = [await lab.checkpoint(run, 10), await lab.checkpoint(run, 20)];
      await lab.evaluated(first, { 'train/loss': 0.5 }, { suite: 'heldout' });
      await lab.evaluated(second, { 'train/loss': 0.4 }, { suite: 'heldout' });
      await lab.evaluated(second, { 'train/loss': 0.1 }, { suite: 'easy' });
      const { convergence } = await lab.diagnose(run);
      expect(convergence).to.include({ eval_best: 0.4, eval_best_step: 20 });
      expect(convergence.eval_protocol).to.deep.equal({
        suite: 'heldout',
        dataset: null,
        dataset_version: null,
      });
    });

    it('a primary metric that only evaluations have', async () => {
      const run = await lab.runWith({ 'train/loss': falling(64) });
      await lab.must('PUT', '/primary-metric', { name: 'heldout/acc', experiment_id: run.experiment_id });
      expect((await lab.diagnose(run)).convergence.metric, 'without a value of it').to.equal('train/loss');
      await lab.evaluated(await lab.checkpoint(run, 10), { 'heldout/acc': 0.7 });
      expect((await lab.diagnose(run)).convergence).to.include({
        metric: 'heldout/acc',
        best: null,
        latest: null,
        trend: 'unknown',
        is_improving: null,
        eval_best: 0.7,
        eval_best_step: 10,
      });
    });

    it('no overfitting warning is derived from comparing steps: the event OVERFITTING_SUSPECTED signals it', async () => {
      const run = await lab.runWith({
        'train/loss': falling(64),
        'val/loss': [...falling(20), ...falling(44).reverse()],
      });
      expect((await lab.diagnose(run)).anomalies).to.deep.equal([]);
      const title = 'val/loss diverges';
      const event_id = await lab.event({
        type: 'OVERFITTING_SUSPECTED',
        severity: 'warning',
        title,
        run_id: run.id,
      });
      const { anomalies } = await lab.diagnose(run);
      expect(anomalies).to.deep.equal([
        {
          kind: 'OVERFITTING_SUSPECTED',
          severity: 'warning',
          message: title,
          evidence: [{ event_id }],
          fixes: anomalies[0]?.fixes,
        },
      ]);
      const advice = anomalies[0]?.fixes.join(' ');
      for (const word of [/best validation loss/, /stop early/, /weight decay/, /more data/, /augment/])
        expect(advice).to.match(word);
      await lab.must('POST', `/runs/${run.id}/finish`, { status: 'FAILED' });
      const { body } = await lab.rig.get(`/runs/${run.id}/failure`);
      expect(body.rule, 'it is seldom why a run fails').to.equal(null);
    });

    it('a loss that is NaN does not improve, and the summary says since when', async () => {
      const run = await lab.runWith({ 'train/loss': [...falling(10), 'NaN', 'NaN', 'NaN'] });
      const { convergence, summary } = await lab.diagnose(run);
      expect(convergence).to.include({ trend: 'decreasing', latest: 'NaN', is_improving: false });
      expect(summary).to.include(
        'train/loss is NaN, first at step 10; its best value was 0.52632 at step 9. What needs attention',
      );
    });

    it('a NaN before the 4th point: whether it improves is not known, as the trend is unknown', async () => {
      const { convergence, summary } = await lab.diagnose(await lab.runWith({ loss: ['NaN', 'NaN'] }));
      expect(convergence).to.include({ trend: 'unknown', is_improving: null, best: null });
      expect(summary).to.include('loss is NaN, first at step 0. What');
    });

    it('a loss that rises after it fell is not level, with the event or without, until it has come back', async () => {
      const losses = [1.5, 1.2, 1, 0.8, 0.85, 0.95, 1.1, 1.3, 1.5, 1.8];
      const run = await lab.runWith({ 'train/loss': falling(10), 'val/loss': losses });
      expect((await lab.diagnose(run)).summary).to.match(
        / val\/loss is worse than its best: it is 1\.8, .*\.$/,
      );
      await lab.event({
        type: 'OVERFITTING_SUSPECTED',
        severity: 'warning',
        title: 'val/loss diverges',
        message: 'Its best value was 0.8.',
        run_id: run.id,
        data: { metric: 'val/loss' },
      });
      const { convergence, summary } = await lab.diagnose(run);
      expect(convergence).to.include({ trend: 'stable', is_improving: false, is_stalled: false });
      expect(summary).to.include(
        'val/loss is worse than its best: it is 1.8, best 0.8 at step 3. What needs',
      );
      expect(summary).to.match(/: val\/loss diverges: Its best value was 0\.8\.$/);
      await lab.log(run, { 'val/loss': [0.9, 0.82] }, { firstStep: 10 });
      expect((await lab.diagnose(run)).convergence).to.include({ trend: 'stable', is_stalled: true });
    });

    it('the event alone tells it of a loss of which one value was high by chance', async () => {
      const losses = [1.5, 1.2, 1, 0.8, 0.85, 0.8, 0.82, 0.8, 0.81, 1.8];
      const run = await lab.runWith({ 'val/loss': losses });
      expect((await lab.diagnose(run)).convergence).to.include({ is_stalled: true });
      await lab.event({
        type: 'OVERFITTING_SUSPECTED',
        severity: 'warning',
        title: 'val/loss diverges',
        run_id: run.id,
        data: { metric: 'val/loss' },
      });
      expect((await lab.diagnose(run)).convergence).to.include({ is_improving: false, is_stalled: false });
    });

    it('a loss that comes back from a divergence only part of the way does not improve, and nobody says that all is well', async () => {
      const losses = [
        2.4, 1.8, 22, 55, 38, 34, 26, 20, 15, 10, 6, 4, 3, 2.6, 2.4, 2.35, 2.32, 2.31, 2.31, 2.31,
      ];
      const run = await lab.runWith({ 'val/loss': losses });
      await lab.checkpoint(run, 1);
      const { convergence, summary, anomalies, next_actions } = await lab.diagnose(run);
      expect(convergence).to.include({ trend: 'decreasing', is_improving: false, is_stalled: false });
      expect(anomalies).to.deep.equal([]);
      expect(summary).to.equal(
        'The run is running at step 19. val/loss is worse than its best: it is 2.31, best 1.8 at step 1.',
      );
      const best = next_actions.find(({ tool }) => tool === 'get_best_checkpoint');
      expect(best?.reason).to.match(/^val\/loss is worse than its best: /);
      await lab.log(run, { 'val/loss': [1.9, 1.8, 1.7] }, { firstStep: 20 });
      expect((await lab.diagnose(run)).summary).to.match(/val\/loss improves.* Nothing is wrong\.$/);
    });

    it('without a metric whose direction is known there is none, as for a run without points', async () => {
      for (const run of [
        await lab.runWith({ lr: [1, 2, 3, 4, 5], samples_per_second: [1, 2] }),
        await lab.rig.createRun(),
      ])
        expect((await lab.diagnose(run)).convergence).to.include({
          metric: null,
          best: null,
          latest: null,
          trend: 'unknown',
          is_improving: null,
          is_stalled: false,
        });
    });
  });
});
