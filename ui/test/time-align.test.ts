import { expect } from 'chai';
import { alignByTime, nearestSample } from '../src/chart/time-align.js';

const S = 1000;

describe('series of a node by time', () => {
  it('share one column of times; where one has no sample its line goes on', () => {
    const aligned = alignByTime([
      { ts: [0, 10 * S, 20 * S], values: [1, 2, 3] },
      { ts: [5 * S, 20 * S], values: [7, 8] },
    ]);
    expect(aligned.ts).to.deep.equal([0, 5 * S, 10 * S, 20 * S]);
    expect(aligned.columns).to.deep.equal([
      [1, undefined, 2, 3],
      [undefined, 7, undefined, 8],
    ]);
  });

  it('are broken where nothing was measured for long', () => {
    const { ts, columns } = alignByTime([
      { ts: [0, 10 * S, 20 * S, 100 * S, 110 * S], values: [1, 1, 1, 2, 2] },
    ]);
    expect(ts).to.deep.equal([0, 10 * S, 20 * S, 20 * S + 1, 100 * S, 110 * S]);
    expect(columns[0]).to.deep.equal([1, 1, 1, null, 2, 2]);
  });

  it('are whole where a long time between samples is usual', () => {
    const minutes = [0, 60 * S, 120 * S, 180 * S];
    expect(alignByTime([{ ts: minutes, values: [1, 2, 3, 4] }]).columns[0]).to.deep.equal([1, 2, 3, 4]);
  });

  it('may be none, or empty', () => {
    expect(alignByTime([])).to.deep.equal({ ts: [], columns: [] });
    expect(alignByTime([{ ts: [], values: [] }])).to.deep.equal({ ts: [], columns: [[]] });
  });

  it('tell the nearest sample of a time', () => {
    expect(nearestSample([0, 10, 20], [1, undefined, 3], 9)).to.equal(0);
    expect(nearestSample([0, 10, 20], [1, undefined, 3], 11)).to.equal(2);
    expect(nearestSample([0, 10], [undefined, null], 4)).to.equal(null);
  });
});
