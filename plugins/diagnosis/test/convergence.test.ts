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
          fixes: [],
        },
      ]);
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
