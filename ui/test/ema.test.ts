import { expect } from 'chai';
import { ema } from '../src/chart/ema.js';

describe('ema', () => {
  it('starts at the first value, without the bias of a start at zero', () => {
    expect(ema([4, 4, 4], 0.9).map((value) => Number(value.toFixed(9)))).to.deep.equal([4, 4, 4]);
  });

  it('is the values themselves at weight 0', () => {
    expect(ema([1, 5, 2], 0)).to.deep.equal([1, 5, 2]);
  });

  it('leaves NaN and infinities where they are and out of the average', () => {
    const smooth = ema([1, NaN, 1, Infinity, 1], 0.5);
    expect(smooth).to.deep.equal([1, NaN, 1, Infinity, 1]);
  });

  it('weighs the past', () => {
    const [, second] = ema([0, 1], 0.5);
    expect(second).to.be.closeTo(2 / 3, 1e-12);
  });
});
