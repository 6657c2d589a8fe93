import { expect } from 'chai';
import {
  alignSeries,
  countUndrawable,
  describeUndrawable,
  isolatedRows,
  nearestRow,
} from '../src/chart/align.js';

describe('alignSeries', () => {
  it('puts series on one axis; a missing point is undefined, not a gap', () => {
    const train = { xs: [1, 2, 3], values: [9, 8, 7] };
    const val = { xs: [2], values: [5] };
    expect(alignSeries([train, val])).to.deep.equal({
      xs: [1, 2, 3],
      drawn: [
        [9, 8, 7],
        [undefined, 5, undefined],
      ],
      measured: [
        [9, 8, 7],
        [undefined, 5, undefined],
      ],
    });
  });

  it('breaks the line at NaN and infinities, and keeps what was measured', () => {
    const { drawn, measured } = alignSeries([{ xs: [1, 2, 3], values: [1, NaN, Infinity] }]);
    expect(drawn[0]).to.deep.equal([1, null, null]);
    expect(measured[0]).to.deep.equal([1, NaN, Infinity]);
  });

  it('gives a repeated step a row each: the second value does not hide the first', () => {
    const { xs, drawn } = alignSeries([
      { xs: [1, 1, 2], values: [1, 99, 2] },
      { xs: [1, 2], values: [5, 6] },
    ]);
    expect(xs).to.deep.equal([1, 1, 2]);
    expect(drawn).to.deep.equal([
      [1, 99, 2],
      [5, undefined, 6],
    ]);
  });

  it('finds what no line is drawn to: points between gaps, and all points of one step', () => {
    const values = [1, NaN, 3, NaN, 5, 6];
    const aligned = alignSeries([
      { xs: [1, 2, 3, 4, 5, 6], values },
      { xs: [0, 0, 0], values: [-1, -1, -1] },
      { xs: [], values: [] },
    ]);
    const steps = [0, 1, 2].map((line) => isolatedRows(aligned, line).map((row) => aligned.xs[row]));
    expect(steps).to.deep.equal([[1, 3], [0], []]);
  });

  it('has no place below zero on a log axis', () => {
    expect(alignSeries([{ xs: [1, 2, 3], values: [0, -1, 2] }], true).drawn[0]).to.deep.equal([
      null,
      null,
      2,
    ]);
  });
});

describe('what is not on the line', () => {
  it('is counted and said', () => {
    const values = [1, NaN, NaN, Infinity, -Infinity, 0];
    expect(describeUndrawable(countUndrawable(values, false))).to.equal('2 NaN, 2 ∞');
    expect(describeUndrawable(countUndrawable(values, true))).to.equal('2 NaN, 2 ∞, 1 ≤ 0');
    expect(describeUndrawable(countUndrawable([1, 2], false))).to.equal('');
  });
});

describe('nearestRow', () => {
  it('finds the closest row with a point, the earlier one first', () => {
    const column = [undefined, 1, undefined, undefined, 2];
    expect([0, 1, 2, 3, 4].map((row) => nearestRow(column, row))).to.deep.equal([1, 1, 1, 4, 4]);
    expect(nearestRow([undefined, undefined], 0)).to.equal(null);
    expect(nearestRow([], 0)).to.equal(null);
  });
});
