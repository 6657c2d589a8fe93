import { expect } from 'chai';
import type { Direction } from '@svc/contract';
import { isFarFromBest } from '../src/index.js';
import { pseudoRandom } from './pseudo-random.js';

/** Of a whole series, as the summary of a run does it. */
function isFar(values: readonly number[], direction: Direction = 'minimize'): boolean {
  const finite = values.filter(Number.isFinite);
  const best = direction === 'minimize' ? Math.min(...finite) : Math.max(...finite);
  return isFarFromBest(Float64Array.from(values), { first: values[0] as number, best, direction });
}

const DIVERGED = [2.4, 1.8, 22, 55, 38, 34, 26, 15, 10, 6, 4, 3, 2.6, 2.4, 2.35, 2.32, 2.31, 2.31];

describe('far from the best value', () => {
  it('is a loss that diverged and came back only part of the way, and an accuracy that was lost', () => {
    expect(isFar(DIVERGED)).to.equal(true);
    expect(isFar([0.1, 0.3, 0.11, 0.08, 0.09, 0.1, 0.07, 0.08, 0.08, 0.08], 'maximize')).to.equal(true);
  });

  it('is not known under 4 points', () => {
    expect(isFar([1, 0.1, 2])).to.equal(false);
    expect(isFar([1, 0.1, 2, 2])).to.equal(false);
    expect(isFar([1, 1.5, 2, 2.5])).to.equal(true);
  });

  it('needs all of the last values: one that was high by chance is not enough, nor is one that has come back', () => {
    expect(isFar([1, 0.5, 0.4, 0.3, 0.3, 0.31, 0.3, 3])).to.equal(false);
    expect(isFar([...DIVERGED, 1.79])).to.equal(false);
  });

  it('is no small step back: less than half of the gain, or less than 5 %', () => {
    expect(isFar([2, 1, 0.5, 0.5, 0.51, 0.55, 0.6, 0.6, 0.6, 0.6])).to.equal(false);
    expect(isFar([1.01, 1, 1.02, 1.02, 1.02, 1.02, 1.02, 1.02])).to.equal(false);
    expect(isFar([0.1, 0.9, 0.97, 0.95, 0.95, 0.95, 0.95, 0.95], 'maximize')).to.equal(false);
  });

  it('compares with the first and the best value of all, not with those of the last 64', () => {
    const level = new Float64Array(64).fill(2.31);
    const reached = { first: 2.4, best: 1.8, direction: 'minimize' } as const;
    expect(isFarFromBest(level, reached)).to.equal(true);
    expect(isFarFromBest(level, { ...reached, first: 40 })).to.equal(false);
    expect(isFarFromBest(level, { ...reached, first: 40, best: 1 })).to.equal(true);
  });

  it('is no series of noise, however low its best value is by chance', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = pseudoRandom(seed);
      const noise = Array.from({ length: 2000 }, () => 1 + 0.5 * (random() + random() - 1));
      expect(isFar(noise), `seed ${seed}`).to.equal(false);
    }
  });

  it('ignores what is not finite, and does not judge values around 0', () => {
    expect(isFar([...DIVERGED, NaN, 2.31, Infinity])).to.equal(true);
    expect(isFar([0.5, -0.5, 2, 2, 2, 2, 2])).to.equal(false);
    expect(isFarFromBest(new Float64Array(0), { first: NaN, best: NaN, direction: 'minimize' })).to.equal(
      false,
    );
  });
});
