import { expect } from 'chai';
import fc from 'fast-check';
import { isLoss, newestSpike } from '../src/spike.js';
import { pseudoRandom } from './pseudo-random.js';

const spikeIn = (values: readonly number[]) => newestSpike(Float64Array.from(values));
const flat = (length: number) => Array.from({ length }, (_, index) => 1 + (index % 3) * 0.1);

describe('spike', () => {
  it('is a value over 3 times the median of the recent window before it', () => {
    expect(spikeIn([...flat(20), 3.4, ...flat(5)])).to.deep.equal({ index: 20, median: 1.1 });
    expect(spikeIn([...flat(20), 3.2, ...flat(5)])).to.equal(null);
  });

  it('is told by the newest one', () => {
    expect(spikeIn([...flat(20), 9, ...flat(5), 8, ...flat(5)])?.index).to.equal(26);
  });

  it('is none in a loss that falls, however steeply, or before there are 4 values to compare with', () => {
    expect(spikeIn(Array.from({ length: 64 }, (_, index) => 100 * 0.5 ** index))).to.equal(null);
    expect(spikeIn([1, 1, 1, 50])).to.equal(null);
    expect(spikeIn([1, 1, 1, 1, 50])).to.deep.equal({ index: 4, median: 1 });
  });

  it('looks past values that are not finite', () => {
    expect(spikeIn([NaN, ...flat(10), Infinity, 7, -Infinity, NaN])).to.deep.equal({
      index: 12,
      median: 1.1,
    });
    expect(spikeIn([NaN, Infinity])).to.equal(null);
    expect(spikeIn([])).to.equal(null);
  });

  it('says nothing of losses around or below zero', () => {
    expect(spikeIn([-1, -2, -1, -2, -1, 5])).to.equal(null);
    expect(spikeIn([0, 0, 0, 0, 0, 5])).to.equal(null);
  });

  it('is what comparing each value with the median before it finds', () => {
    const anyLosses = fc.tuple(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 0, max: 64 }));
    fc.assert(
      fc.property(anyLosses, ([seed, length]) => {
        const random = pseudoRandom(seed);
        const values = Array.from({ length }, () => (random() < 0.1 ? 10 : 1) * random());
        const indexes = values.map((_, index) => index).filter((index) => index >= 4);
        const spikes = indexes.filter(
          (index) => (values[index] ?? 0) > 3 * sortedMedian(values.slice(Math.max(0, index - 32), index)),
        );
        expect(spikeIn(values)?.index).to.equal(spikes.at(-1));
      }),
    );
  });

  it('is told of losses by their name', () => {
    for (const name of ['loss', 'train/loss', 'Train-Loss', 'loss.total', 'val_loss'])
      expect(isLoss(name), name).to.equal(true);
    for (const name of ['lossless', 'gloss', 'grad_norm', 'acc']) expect(isLoss(name), name).to.equal(false);
  });
});

function sortedMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >>> 1], sorted[sorted.length >>> 1]] as [number, number];
  return (low + high) / 2;
}
