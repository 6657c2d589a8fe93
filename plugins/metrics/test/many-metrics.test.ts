import { eachDatabase } from '@svc/kernel/testing';
import { metricsRef } from '@svc/plugin-metrics';
import { expect } from 'chai';
import { MetricsRig, type NewRun } from './support/metrics-rig.js';

const COUNT = 1_300;
/** Names that sort otherwise in other languages. */
const nameOf = (index: number) => `${'aBcÄ_/'.at(index % 6)}/${index}`;

eachDatabase((database) => {
  describe('a run with more metrics than are read at once', function () {
    this.timeout(60_000);
    let rig: MetricsRig;
    let run: NewRun;
    before(async () => {
      rig = await MetricsRig.start(database);
      run = await rig.newRun();
      const points = Array.from({ length: COUNT }, (_, seq) => ({
        seq,
        name: nameOf(seq),
        step: seq,
        value: seq,
      }));
      expect((await rig.write(run, points)).status).to.equal(200);
    });
    after(() => rig.close());

    /** How often others got their turn in the same process until the work was done. */
    async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
      let turns = 0;
      let timer = setImmediate(function count() {
        turns += 1;
        timer = setImmediate(count);
      });
      await work();
      clearImmediate(timer);
      return turns;
    }

    it('has each of them in its summary, in the series and in the points, once', async () => {
      const { metrics } = await rig.summary(run);
      const series = await rig.series(run);
      for (const read of [metrics, series]) {
        expect(Object.keys(read)).to.have.length(COUNT);
        expect(Object.keys(read)).to.have.members(Array.from({ length: COUNT }, (_, index) => nameOf(index)));
      }
      for (const index of [0, 511, 512, 1023, 1024, COUNT - 1]) {
        expect(metrics[nameOf(index)]!.latest.value).to.equal(index);
        expect(series[nameOf(index)]!.values).to.deep.equal([index]);
      }
    });

    it('lets others in between when a batch writes each of them, new or known, and stays whole', async () => {
      const other = await rig.newRun();
      const batch = (from: number) =>
        Array.from({ length: COUNT }, (_, at) => ({
          seq: from + at,
          name: nameOf(at),
          step: from,
          value: at,
        }));
      for (const from of [0, COUNT]) {
        let written = {};
        const turns = await turnsDuring(async () => {
          const points = batch(from);
          written = await rig.http.kernel.use(metricsRef).write({ run_id: other.id, points, at: 1 });
        });
        expect(written).to.have.property('duplicates', 0);
        expect(turns).to.be.at.least(2);
      }
      const series = Object.values(await rig.series(other));
      expect(series).to.have.length(COUNT);
      expect(series.every(({ total }) => total === 2)).to.equal(true);
    });

    it('lets others in between when it is summed up', async () => {
      const turns = await turnsDuring(() => rig.http.kernel.use(metricsRef).summary(run));
      expect(turns).to.be.at.least(Math.floor(COUNT / 512));
    });
  });
});
