import { eachDatabase } from '@svc/kernel/testing';
import type { Run } from '@svc/contract';
import { expect } from 'chai';
import { MetricsRig } from './support/metrics-rig.js';

eachDatabase((database) => {
  describe('runs sorted by a metric', () => {
    let rig: MetricsRig;
    let of: string;
    before(async () => {
      rig = await MetricsRig.start(database);
      const values: [string, (number | string)[]][] = [
        ['falls', [3, 1]],
        ['rises', [0.5, 4]],
        ['ends in NaN', [2, 'NaN']],
        ['only NaN', ['NaN']],
        ['without', []],
      ];
      for (const [name, points] of values) {
        const run = await rig.newRun({ name, project: 'sorted' });
        of = `project_id=${run.project_id}`;
        const written = points.map((value, step) => ({ seq: step, name: 'loss', step, value }));
        if (points.length > 0) await rig.write(run, written);
        await rig.write(run, [{ seq: 9, name: 'thing', step: 0, value: 1 }]);
      }
    });
    after(() => rig.close());

    const define = (body: object) =>
      rig.http.kernel.request('PUT', '/metric-definitions/loss', { token: rig.http.tokens.write, body });
    const sorted = async (sort: string) => {
      const { status, body } = await rig.http.get(`/runs?${of}&sort=${sort}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      return (body.items as Run[]).map(({ name }) => name);
    };

    it('by its last value: NaN behind the numbers, a run without it last', async () => {
      expect((await sorted('last:loss')).slice(0, 2)).to.deep.equal(['falls', 'rises']);
      expect((await sorted('-last:loss')).slice(0, 2)).to.deep.equal(['rises', 'falls']);
      expect((await sorted('last:loss')).slice(2)).to.deep.equal(['only NaN', 'ends in NaN', 'without']);
    });

    it('by its best value, which the direction tells: of the finite ones the lowest or the highest', async () => {
      const noBest = ['without', 'only NaN'];
      expect(await sorted('best:loss')).to.deep.equal(['rises', 'falls', 'ends in NaN', ...noBest]);
      await define({ direction: 'maximize' });
      expect(await sorted('-best:loss')).to.deep.equal(['rises', 'falls', 'ends in NaN', ...noBest]);
      const project_id = of.split('=')[1];
      await define({ direction: 'minimize', project_id });
      expect(await sorted('best:loss')).to.deep.equal(['rises', 'falls', 'ends in NaN', ...noBest]);
      expect((await sorted('-best:loss')).slice(0, 3)).to.deep.equal(['ends in NaN', 'falls', 'rises']);
    });

    it('is refused while nobody knows which value is the best', async () => {
      const { status, body } = await rig.http.get(`/runs?${of}&sort=best:thing`);
      expect(status).to.equal(422);
      expect(body.error.message).to.contain('svc metrics set thing');
      expect(await sorted('last:thing')).to.have.length(5);
    });
  });
});
