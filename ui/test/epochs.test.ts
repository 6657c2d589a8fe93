import { expect } from 'chai';
import { epochsOf } from '../src/chart/epochs.js';
import type { MetricSeries } from '../src/chart/series-store.js';

function series(steps: number[], values: number[], epochs?: (number | null)[]): MetricSeries {
  return { steps, values, ts: steps, total: steps.length, ...(epochs && { epochs }) };
}

describe('epochsOf', () => {
  it('is what the points tell, and rises evenly between them', () => {
    const at = epochsOf(new Map([['loss', series([0, 50, 100, 200], [1, 1, 1, 1], [0, null, 1, 2])]]))!;
    expect([0, 50, 150, 300].map(at)).to.deep.equal([0, 0.5, 1.5, 3]);
  });

  it('takes whole epochs as their beginnings, so that points do not stand in columns', () => {
    const at = epochsOf(
      new Map([['loss', series([0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1])]]),
    )!;
    expect([0, 1.5, 3, 4.5].map(at)).to.deep.equal([0, 0.5, 1, 1.5]);
  });

  it('reads metrics of that name, as Lightning and Hugging Face log them', () => {
    for (const name of ['epoch', 'train/epoch', 'trainer.epoch'])
      expect(epochsOf(new Map([[name, series([10, 20], [1, 2])]]))!(15)).to.equal(1.5);
    expect(epochsOf(new Map([['loss_epoch', series([10, 20], [1, 2])]]))).to.equal(null);
  });

  it('goes by how far the run is, where no point of a long series tells its epoch', () => {
    expect(epochsOf(new Map(), { step: 1000, epoch: 4 })!(500)).to.equal(2);
    expect(epochsOf(new Map(), { step: 0, epoch: 4 })).to.equal(null);
    expect(epochsOf(new Map())).to.equal(null);
  });
});
