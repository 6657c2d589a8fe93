import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { count, MetricsRig, point, pointsOf, UNKNOWN_RUN, type NewRun } from './support/metrics-rig.js';

describe('GET /runs/{run_id}/metrics', () => {
  eachDatabase((database) => {
    let rig: MetricsRig;
    let run: NewRun;
    before(async () => {
      rig = await MetricsRig.start(database);
      run = await rig.newRun();
      await rig.write(run, pointsOf('train/loss', count(3000)));
      await rig.write(run, pointsOf('eval/acc', ['NaN', '-Infinity'], 5000));
    });
    after(() => rig.close());

    const namesOf = async (query: string) => Object.keys(await rig.series(run, query));

    it('answers every metric of the run unless names are given', async () => {
      expect(await namesOf('')).to.have.members(['train/loss', 'eval/acc']);
      expect((await rig.read(run)).body.run_id).to.equal(run.id);
      expect((await rig.read({ id: run.id.slice('run_'.length) })).body.run_id).to.equal(run.id);
    });

    it('names is ONE comma-separated value; names may contain slashes, encoded or plain', async () => {
      expect(await namesOf('?names=eval/acc,train/loss')).to.have.members(['train/loss', 'eval/acc']);
      expect(await namesOf('?names=eval%2Facc%2Ctrain%2Floss')).to.have.members(['train/loss', 'eval/acc']);
      expect(await namesOf('?names=eval/acc,eval/acc')).to.deep.equal(['eval/acc']);
    });

    it('repeating the parameter is not equivalent and keeps only one name', async () => {
      expect(await namesOf('?names=eval/acc&names=train/loss')).to.deep.equal(['train/loss']);
    });

    it('a name that the run does not have is left out', async () => {
      const picked = await rig.series(run, '?names=eval/acc,nothing');
      expect(picked).to.deep.equal({
        'eval/acc': {
          steps: [0, 1],
          values: ['NaN', '-Infinity'],
          ts: picked['eval/acc']?.ts,
          total: 2,
          downsampled: false,
        },
      });
      expect(await rig.series(run, '?names=,')).to.deep.equal({});
      expect(await rig.series(run, '?names=%00')).to.deep.equal({});
      expect(await rig.series(await rig.newRun())).to.deep.equal({});
    });

    it('tells the epochs of points where one of them has an epoch', async () => {
      const other = await rig.newRun();
      const [first, second] = pointsOf('loss', [3, 2]);
      await rig.write(other, [{ ...first!, epoch: 0.5 }, second!, ...pointsOf('lr', [1], 10)]);
      const { loss, lr } = await rig.series(other);
      expect(loss?.epochs).to.deep.equal([0.5, null]);
      expect(lr).not.to.have.property('epochs');
    });

    it('step_from and step_to are both within the range', async () => {
      const part = async (query: string) =>
        (await rig.series(run, `?names=train/loss&${query}`))['train/loss'];
      expect((await part('step_from=100&step_to=199'))?.steps).to.deep.equal(count(100, 100));
      expect((await part('step_from=2998'))?.steps).to.deep.equal([2998, 2999]);
      expect((await part('step_to=1'))?.steps).to.deep.equal([0, 1]);
      expect((await part('step_to=-1'))?.total).to.equal(0);
      expect((await part('step_from=9000'))?.total).to.equal(0);
      expect((await part('step_from=5&step_to=4'))?.total).to.equal(0);
    });

    it('more points than limit are thinned to at most so many, with the exact total; 1000 when it is left out', async () => {
      const thin = (await rig.series(run, '?names=train/loss&limit=50'))['train/loss'];
      expect(thin).to.include({ total: 3000, downsampled: true });
      expect(thin?.steps).to.include(0).and.to.include(2999);
      expect(thin?.steps.length).to.be.within(25, 50);
      const { 'train/loss': whole } = await rig.series(run, '?names=train/loss&limit=3000');
      expect(whole).to.include({ total: 3000, downsampled: false });
      const { 'train/loss': usual } = await rig.series(run);
      expect(usual?.steps.length).to.be.within(500, 1000);
    });

    it('thinning keeps the first, the last, spikes and NaNs', async () => {
      const spiky = await rig.newRun();
      const values = count(9000).map((step) =>
        step === 7777 ? 99 : step === 1234 ? ('NaN' as const) : Math.sin(step),
      );
      await rig.write(spiky, pointsOf('loss', values));
      const { loss } = await rig.series(spiky, '?limit=60');
      for (const step of [0, 1234, 7777, 8999]) expect(loss?.steps).to.include(step);
      expect(loss?.values).to.include(99).and.to.include('NaN');
    });

    it('the same question always gives the same answer, however the points came in', async () => {
      const points = pointsOf(
        'loss',
        count(5000).map((step) => (step * 7919) % 1013),
      );
      const [one, two] = [await rig.newRun(), await rig.newRun()];
      await rig.write(one, points);
      for (const start of [4000, 0, 2500, 1000, 3000, 2000])
        await rig.write(
          two,
          points.slice(start, start + 1500).map((each) => ({ ...each, ts: 1 })),
        );
      const columns = async (of: NewRun, query: string) => {
        const { loss } = await rig.series(of, query);
        return { steps: loss?.steps, values: loss?.values, total: loss?.total };
      };
      for (const query of ['?limit=100', '?limit=7', '?limit=333&step_from=17&step_to=4321', '?limit=1']) {
        expect(await columns(two, query), query).to.deep.equal(await columns(one, query));
        expect(await columns(one, query), query).to.deep.equal(await columns(one, query));
      }
    });

    it('window_s: the points of the last seconds by their ts', async () => {
      const live = await rig.newRun();
      const now = Date.now();
      await rig.write(live, [point(0, { ts: now - 60_000 }), point(1, { ts: now - 1000 })]);
      expect((await rig.series(live, '?window_s=30'))['loss']?.steps).to.deep.equal([1]);
      expect((await rig.series(live, '?window_s=90'))['loss']?.steps).to.deep.equal([0, 1]);
      expect((await rig.series(live, '?window_s=90&step_to=0'))['loss']?.steps).to.deep.equal([0]);
      expect((await rig.series(live, '?window_s=0.001'))['loss']?.total).to.equal(0);
    });

    it('refuses a limit, a step or a window out of range, no names, and what it does not know', async () => {
      for (const [query, path] of [
        ['limit=0', 'limit'],
        ['limit=10001', 'limit'],
        ['limit=1.5', 'limit'],
        ['step_from=x', 'step_from'],
        ['step_to=9007199254740992', 'step_to'],
        ['window_s=0', 'window_s'],
        ['window_s=-1', 'window_s'],
        ['names=', 'names'],
        ['name=loss', 'name'],
      ] as const) {
        const { status, body } = await rig.read(run, `?${query}`);
        expect(status, query).to.equal(422);
        expect(body.error.details.errors[0].path, query).to.equal(path);
      }
    });

    it('an unknown run is not_found; read scope suffices, an ingest token does not', async () => {
      expect((await rig.read({ id: UNKNOWN_RUN })).body.error.code).to.equal('not_found');
      expect((await rig.http.get(`/runs/${run.id}/metrics`, run.ingest_token)).status).to.equal(403);
    });
  });
});
