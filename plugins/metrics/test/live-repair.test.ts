import type { MetricPoint } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { count, MetricsRig, point, type NewRun } from './support/metrics-rig.js';
import { RepairingClient } from './support/repairing-client.js';
import { pseudoRandom } from './points.js';

describe('a client repairs lost points by polling from a step_from watermark', () => {
  eachDatabase((database) => {
    let rig: MetricsRig;
    before(async () => void (rig = await MetricsRig.start(database)));
    after(() => rig.close());

    /** Batches of a training whose steps go back now and then, each with two points of one step; seqs come in any order. */
    function plan(random: () => number): MetricPoint[][] {
      let step = 0;
      return count(40).map((batch) => {
        if (random() < 0.2) step = Math.floor(random() * step);
        return count(1 + Math.floor(random() * 12)).map((index) => {
          if (index % 2 === 1) step += 1;
          const seq = ((batch * 7919) % 40) * 100 + index;
          return point(seq, { step, value: Math.floor(random() * 4), ts: 1_700_000_000_000 });
        });
      });
    }

    const stored = async (run: NewRun) => {
      const { loss } = await rig.series(run, '?limit=10000');
      return loss?.steps.map((step, at) => ({ step, value: loss.values[at], ts: loss.ts[at] })) ?? [];
    };

    for (const seed of [1, 2, 3]) {
      it(`loses random messages and connections, polls now and then, and ends with exactly the stored series (seed ${seed})`, async () => {
        const random = pseudoRandom(seed);
        const run = await rig.newRun();
        const client = new RepairingClient(rig, run, 'loss', () => random() < 0.5, seed === 3 ? 20 : 10_000);
        const following = client.follow();
        const batches = plan(pseudoRandom(seed + 100));
        const pollsNow = pseudoRandom(seed + 200);
        for (const batch of batches) {
          await rig.write(run, [...batch, { ...point(90_000 + (batch[0]?.seq ?? 0)), name: 'other' }]);
          if (pollsNow() < 0.3) await client.poll();
        }
        await rig.finish(run);
        await following;
        await client.poll();
        expect(client.points).to.deep.equal(await stored(run));
        expect(client.points).to.have.length(batches.flat().length);
      });
    }

    it('one that never hears the stream has every point too', async () => {
      const run = await rig.newRun();
      const client = new RepairingClient(rig, run, 'loss', () => true);
      for (const batch of plan(pseudoRandom(9)).slice(0, 12)) {
        await rig.write(run, batch);
        await client.poll();
        expect(client.points).to.deep.equal(await stored(run));
      }
      expect(client.wholeReads).to.be.greaterThan(0);
    });

    it('the watermark is the last step that a poll has read, not the last one that the stream has sent', async () => {
      const run = await rig.newRun();
      await rig.write(
        run,
        count(5).map((seq) => point(seq)),
      );
      const polled = (await rig.series(run))['loss']?.steps.at(-1);
      await rig.write(run, [point(5)]); // its message is lost
      await rig.write(run, [point(6)]); // its message arrives
      const stepsFrom = async (step: number | undefined) =>
        (await rig.series(run, `?step_from=${step}`))['loss']?.steps;
      expect(await stepsFrom(polled)).to.deep.equal([4, 5, 6]);
      expect(await stepsFrom(6), 'from the last live step, 5 would be lost for good').to.deep.equal([6]);
    });

    it('steps that go back behind the watermark show in the count of the summary', async () => {
      const run = await rig.newRun();
      const client = new RepairingClient(rig, run, 'loss', () => true);
      await rig.write(
        run,
        count(10).map((seq) => point(seq)),
      );
      await client.poll();
      await rig.write(run, [point(10, { step: 10 }), point(11, { step: 3, value: 33 })]);
      await client.poll();
      expect(client.wholeReads).to.equal(1);
      expect(client.points.map(({ step }) => step)).to.deep.equal([0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10]);
      await rig.write(run, [point(12, { step: 11 })]);
      await client.poll();
      expect(client.wholeReads, 'and it reads on from there').to.equal(1);
    });
  });
});
