import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { count, MetricsRig, point, pointsOf, UNKNOWN_RUN, type NewRun } from './support/metrics-rig.js';

describe('GET /runs/{run_id}/summary', () => {
  eachDatabase((database) => {
    let rig: MetricsRig;
    before(async () => void (rig = await MetricsRig.start(database)));
    after(() => rig.close());

    const define = (name: string, body: object) => rig.put(`/metric-definitions/${name}`, body);
    const metricOf = async (run: NewRun, name: string) => (await rig.summary(run)).metrics[name];

    it('a run summary holds, per metric, latest value, trend and best value, and the run health', async () => {
      const run = await rig.newRun();
      await rig.write(
        run,
        pointsOf(
          'train/loss',
          count(50).map((step) => 5 - step * 0.1),
        ),
      );
      await rig.write(run, pointsOf('eval/acc', [0.5, 2.5, 1.5], 100));
      const { metrics: found, health, run_id, status } = await rig.summary(run);
      expect({ run_id, status, health }).to.deep.equal({
        run_id: run.id,
        status: 'RUNNING',
        health: { status: 'ok', reasons: [] },
      });
      expect(found['train/loss']).to.deep.include({ trend: 'decreasing', count: 50, is_primary: false });
      expect(found['train/loss']).to.deep.include({ guessed: true, guessed_from: 'loss' });
      expect(found['train/loss']?.latest.step).to.equal(49);
      expect(found['eval/acc']).to.deep.include({ best: { value: 2.5, step: 1 }, count: 3 });
      expect(found['eval/acc']?.latest).to.include({ value: 1.5, step: 2 });
    });

    it('a series with fewer than 4 points has trend unknown', async () => {
      const run = await rig.newRun();
      await rig.write(run, pointsOf('loss', [3, 2, 1]));
      expect((await metricOf(run, 'loss'))?.trend).to.equal('unknown');
      await rig.write(run, [point(3, { value: 0 })]);
      expect((await metricOf(run, 'loss'))?.trend).to.equal('decreasing');
    });

    it('the trend of a series is one of increasing, decreasing, stable, unknown', async () => {
      const run = await rig.newRun();
      await rig.write(run, [
        ...pointsOf('up', count(20)),
        ...pointsOf(
          'down',
          count(20).map((step) => -step),
          100,
        ),
        ...pointsOf(
          'flat',
          count(20).map(() => 7),
          200,
        ),
        ...pointsOf('short', [1], 300),
      ]);
      const { metrics } = await rig.summary(run);
      const trends = Object.entries(metrics).map(([name, { trend }]) => [name, trend]);
      expect(Object.fromEntries(trends)).to.deep.equal({
        up: 'increasing',
        down: 'decreasing',
        flat: 'stable',
        short: 'unknown',
      });
    });

    it('a change of direction picks the best values of all runs again', async () => {
      const runs = [await rig.newRun(), await rig.newRun()];
      for (const run of runs) await rig.write(run, pointsOf('turning', [2, 9, 1, 5]));
      for (const run of runs)
        expect(await metricOf(run, 'turning')).to.include({ best: null, guessed: true, guessed_from: null });
      await define('turning', { direction: 'minimize' });
      for (const run of runs)
        expect((await metricOf(run, 'turning'))?.best).to.deep.equal({ value: 1, step: 2 });
      await define('turning', { direction: 'maximize' });
      for (const run of runs) {
        expect(await metricOf(run, 'turning')).to.deep.include({
          direction: 'maximize',
          best: { value: 9, step: 1 },
        });
      }
    });

    it('experiment overrides project, and project overrides global', async () => {
      const inExperiment = await rig.newRun({ project: 'levels', experiment: 'near' });
      const inProject = await rig.newRun({ project: 'levels' });
      const elsewhere = await rig.newRun();
      const all = [inExperiment, inProject, elsewhere];
      for (const run of all) await rig.write(run, pointsOf('leveled', [1, 2, 3]));
      const directions = () =>
        Promise.all(all.map(async (run) => (await metricOf(run, 'leveled'))?.direction));
      expect(await directions()).to.deep.equal(['minimize', 'minimize', 'minimize']);
      await define('leveled', { direction: 'maximize', project_id: inProject.project_id });
      expect(await directions()).to.deep.equal(['maximize', 'maximize', 'minimize']);
      await define('leveled', { direction: 'minimize', experiment_id: inExperiment.experiment_id });
      expect(await directions()).to.deep.equal(['minimize', 'maximize', 'minimize']);
    });

    it('the nearest level that has a primary decides which metric is primary', async () => {
      const run = await rig.newRun({ project: 'primaries', experiment: 'near' });
      await rig.write(run, [...pointsOf('p/one', [1]), ...pointsOf('p/two', [1], 10)]);
      const primary = async () =>
        Object.entries((await rig.summary(run)).metrics)
          .filter(([, { is_primary }]) => is_primary)
          .map(([name]) => name);
      expect(await primary()).to.deep.equal([]);
      await rig.put('/primary-metric', { name: 'p/one' });
      expect(await primary()).to.deep.equal(['p/one']);
      await rig.put('/primary-metric', { name: 'p/two', project_id: run.project_id });
      expect(await primary()).to.deep.equal(['p/two']);
      await rig.put('/primary-metric', { name: 'p/one', experiment_id: run.experiment_id });
      expect(await primary()).to.deep.equal(['p/one']);
    });

    it('best is the first of equal finite values, and null without any', async () => {
      const run = await rig.newRun();
      await rig.write(run, [
        ...pointsOf('loss', ['NaN', 2, '-Infinity', 1, 1]),
        ...pointsOf('lost', ['NaN', 'Infinity'], 10),
      ]);
      expect((await metricOf(run, 'loss'))?.best).to.deep.equal({ value: 1, step: 3 });
      expect((await metricOf(run, 'lost'))?.best).to.equal(null);
      expect((await metricOf(run, 'lost'))?.latest.value).to.equal('Infinity');
    });

    it('health says NaN, infinities and spikes of losses', async () => {
      const run = await rig.newRun();
      await rig.write(run, pointsOf('loss', [1, 1.1, 0.9, 1, 1, 1.05, 8, 1]));
      expect((await rig.summary(run)).health).to.deep.equal({
        status: 'warning',
        reasons: ['loss jumped to 8 at step 6; before, its median was 1'],
      });
      await rig.write(run, [
        point(20, { value: 'Infinity' }),
        point(21, { value: 'NaN' }),
        point(22, { value: 'NaN' }),
      ]);
      const { status, reasons } = (await rig.summary(run)).health;
      expect(status).to.equal('critical');
      expect(reasons.slice(0, 2)).to.deep.equal([
        'loss is NaN from step 21 on (2 points)',
        'loss is Infinity at step 20',
      ]);
    });

    it('health of a run that had a NaN and ended well is a warning', async () => {
      const run = await rig.newRun();
      await rig.write(run, pointsOf('loss', [1, 'NaN', 1, 1]));
      await rig.http.post(`/runs/${run.id}/finish`, { status: 'SUCCEEDED' }, run.ingest_token);
      expect((await rig.summary(run)).health).to.deep.equal({
        status: 'warning',
        reasons: ['loss was NaN at step 1 (1 point), and is finite again'],
      });
    });

    it('health says what critical events the run had', async () => {
      const run = await rig.newRun();
      const report = { title: 'gradient is gone', severity: 'critical' };
      await rig.http.post(`/runs/${run.id}/events`, report, run.ingest_token);
      expect((await rig.summary(run)).health).to.deep.equal({
        status: 'critical',
        reasons: ['gradient is gone'],
      });
    });

    it('health is stale when a running run has had no point for 10 median intervals and 5 minutes', async () => {
      const run = await rig.newRun();
      const start = Date.now() - 600_000;
      await rig.write(
        run,
        count(10).map((seq) => point(seq, { ts: start + seq * 1000 })),
      );
      expect((await rig.summary(run)).health.status, 'it has just come in').to.equal('ok');
      const { db } = rig.http.kernel;
      await db('metric_runs')
        .where({ run_id: run.id })
        .update({ received_at: Date.now() - 299_000 });
      expect((await rig.summary(run)).health.status).to.equal('ok');
      await db('metric_runs')
        .where({ run_id: run.id })
        .update({ received_at: Date.now() - 301_000 });
      const { status, reasons } = (await rig.summary(run)).health;
      expect(status).to.equal('stale');
      expect(reasons[0]).to.match(/^no point for 30[12] s; before, one came about every 1 s$/);
      await rig.finish(run);
      expect((await rig.summary(run)).health.status).to.equal('ok');
    });

    it('progress is step by max_steps, at most 1, and null without either', async () => {
      const run = await rig.newRun({ max_steps: 40 });
      expect((await rig.summary(run)).progress).to.equal(null);
      await rig.write(run, [point(0, { step: 30, epoch: 1.5 })]);
      expect(await rig.summary(run)).to.include({ step: 30, epoch: 1.5, max_steps: 40, progress: 0.75 });
      await rig.write(run, [point(1, { step: 50 })]);
      expect((await rig.summary(run)).progress).to.equal(1);
      expect((await rig.summary(await rig.newRun())).progress).to.equal(null);
    });

    it('progress of a run that SUCCEEDED with the last of the steps that are counted from 0 is 1', async () => {
      const run = await rig.newRun({ max_steps: 300 });
      await rig.write(run, [point(0, { step: 299 })]);
      expect((await rig.summary(run)).progress).to.equal(299 / 300);
      await rig.finish(run);
      expect(await rig.summary(run)).to.include({ status: 'SUCCEEDED', step: 299, progress: 1 });
    });

    it('of a run without points is empty; an unknown run is not_found', async () => {
      expect(await rig.summary(await rig.newRun())).to.deep.include({
        metrics: {},
        progress: null,
        step: null,
      });
      expect((await rig.http.get(`/runs/${UNKNOWN_RUN}/summary`)).body.error.code).to.equal('not_found');
    });
  });
});
