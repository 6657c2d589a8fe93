import { expect } from 'chai';
import fc from 'fast-check';
import { newestSpike } from '../src/spike.js';
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

  it('is none in a healthy loss that is noisy, though it exceeds 3 times its median', () => {
    for (const noise of [0.5, 0.8, 1.1]) {
      const noisy = Array.from(
        { length: 64 },
        (_, index) => 0.01 * Math.exp(noise * normalAt(index) - index / 100),
      );
      expect(Math.max(...noisy) / sortedMedian(noisy), `noise ${noise}`).to.be.above(3);
      expect(spikeIn(noisy), `noise ${noise}`).to.equal(null);
    }
  });

  it('is one of a noisy loss that leaves its noise, and of one that has fallen steeply', () => {
    const noisy = Array.from({ length: 40 }, (_, index) => 0.01 * Math.exp(0.5 * normalAt(index)));
    expect(spikeIn([...noisy, 1])?.index).to.equal(40);
    const falling = Array.from({ length: 40 }, (_, index) => 5 * 0.9 ** index);
    expect(spikeIn([...falling, 5])?.index).to.equal(40);
  });

  it('is one of a steady loss that exceeds twice its largest value, though few values show much noise', () => {
    const steady = [1.1, 0.8, 1, 0.7, 0.9, 1.2];
    expect(spikeIn([...steady, 2.9])?.index).to.equal(6);
    expect(spikeIn([...steady, 2.8])).to.equal(null);
    expect(spikeIn([...steady, 1.5, 2.9])).to.equal(null);
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

  it('is what comparing each value with the median and the noise before it finds', () => {
    const anyLosses = fc.tuple(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 0, max: 64 }));
    fc.assert(
      fc.property(anyLosses, ([seed, length]) => {
        const random = pseudoRandom(seed);
        const values = Array.from({ length }, () => (random() < 0.1 ? 10 : 1) * random());
        const indexes = values.map((_, index) => index).filter((index) => index >= 4);
        const spikes = indexes.filter((index) =>
          exceeds(values[index] ?? 0, values.slice(Math.max(0, index - 32), index)),
        );
        expect(spikeIn(values)?.index).to.equal(spikes.at(-1));
      }),
    );
  });
});

/** Normal noise, the same for each index. */
function normalAt(index: number): number {
  const random = pseudoRandom(1000 + 7919 * index);
  return Array.from({ length: 12 }, random).reduce((sum, part) => sum + part, -6);
}

/** As the README says it, without the means that make it fast. */
function exceeds(value: number, history: readonly number[]): boolean {
  const median = sortedMedian(history);
  const logarithms = history.map((each) => Math.log(Math.max(each, median / 1000)));
  const apart = Math.ceil(history.length / 2);
  const rises = logarithms.slice(apart).map((each, index) => (each - (logarithms[index] ?? 0)) / apart);
  const slope = sortedMedian(rises);
  const level = logarithms.map((each, index) => each - slope * index);
  const center = sortedMedian(level);
  const ofMost = 1.4826 * sortedMedian(level.map((each) => Math.abs(each - center)));
  const high = level.toSorted((a, b) => a - b)[Math.ceil(0.9 * (level.length - 1))] ?? 0;
  const sigma = Math.max(ofMost, (high - center) / 1.2816);
  const low = level.toSorted((a, b) => b - a)[Math.ceil(0.9 * (level.length - 1))] ?? 0;
  const isSteady = Math.max(high - center, center - low) <= Math.log(2);
  const isClear = isSteady && value > 2 * Math.max(...history);
  return value > 3 * median && (isClear || Math.log(value / median) > 5 * (1 + 6 / history.length) * sigma);
}

function sortedMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >>> 1], sorted[sorted.length >>> 1]] as [number, number];
  return (low + high) / 2;
}
