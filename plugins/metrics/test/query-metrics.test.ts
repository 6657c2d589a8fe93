import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { count, MetricsRig, pointsOf, UNKNOWN_RUN, type NewRun } from './support/metrics-rig.js';

describe('POST /runs/metrics:query', () => {
  eachDatabase((database) => {
    let rig: MetricsRig;
    let one: NewRun;
    let two: NewRun;
    before(async () => {
      rig = await MetricsRig.start(database);
      [one, two] = [await rig.newRun(), await rig.newRun()];
      await rig.write(one, [...pointsOf('a,b', count(30)), ...pointsOf('loss', count(30), 100)]);
      await rig.write(two, pointsOf('loss', count(30)));
    });
    after(() => rig.close());

    const query = (body: object, token = rig.http.tokens.read) =>
      rig.http.post('/runs/metrics:query', body, token);

    it('returns series keyed by run id, in the order asked', async () => {
      const { body } = await query({ run_ids: [two.id, one.id] });
      expect(Object.keys(body.series)).to.deep.equal([two.id, one.id]);
      expect(Object.keys(body.series[one.id])).to.have.members(['a,b', 'loss']);
      expect(body.series[two.id].loss).to.deep.equal((await rig.series(two))['loss']);
    });

    it('takes ids without prefix; a run that is named twice is there once', async () => {
      const { body } = await query({ run_ids: [one.id, one.id.slice('run_'.length), one.id] });
      expect(Object.keys(body.series)).to.deep.equal([one.id]);
    });

    it('takes names (a list, so that they may hold commas), step_from, step_to and limit', async () => {
      const { body } = await query({ run_ids: [one.id, two.id], names: ['a,b'], step_from: 10, step_to: 19 });
      expect(body.series[one.id]['a,b'].steps).to.deep.equal(count(10, 10));
      expect(body.series[two.id]).to.deep.equal({});
      const thin = await query({ run_ids: [one.id], names: ['loss'], limit: 5 });
      expect(thin.body.series[one.id].loss).to.include({ total: 30, downsampled: true });
      expect(thin.body.series[one.id].loss.steps.length).to.be.at.most(5);
    });

    it('an unknown run is not_found, and the message names it', async () => {
      for (const id of [UNKNOWN_RUN, 'nonsense']) {
        const { status, body } = await query({ run_ids: [one.id, id] });
        expect(status).to.equal(404);
        expect(body.error.message).to.include(id);
      }
    });

    it('takes 1 to 100 runs and 1 to 1000 names, and points up to 10 000 each', async () => {
      const ids = (length: number) => count(length).map(() => one.id);
      expect((await query({ run_ids: ids(100), limit: 10_000 })).status).to.equal(200);
      for (const [body, path] of [
        [{}, 'run_ids'],
        [{ run_ids: [] }, 'run_ids'],
        [{ run_ids: ids(101) }, 'run_ids'],
        [{ run_ids: one.id }, 'run_ids'],
        [{ run_ids: [one.id], names: [] }, 'names'],
        [{ run_ids: [one.id], names: count(1001).map(String) }, 'names'],
        [{ run_ids: [one.id], limit: 0 }, 'limit'],
        [{ run_ids: [one.id], limit: 10_001 }, 'limit'],
        [{ run_ids: [one.id], step_from: '1' }, 'step_from'],
        [{ run_ids: [one.id], window_s: 5 }, 'window_s'],
      ] as const) {
        const { status, body: answer } = await query(body);
        expect(status, path).to.equal(422);
        expect(answer.error.details.errors[0].path).to.equal(path);
      }
    });

    it('read scope suffices', async () => {
      expect((await query({ run_ids: [one.id] }, rig.http.tokens.sdk)).status).to.equal(403);
      expect((await query({ run_ids: [one.id] }, rig.http.tokens.write)).status).to.equal(200);
    });
  });
});
