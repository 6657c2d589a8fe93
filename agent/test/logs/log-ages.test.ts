import { expect } from 'chai';
import { LogAges } from '../../src/logs/log-ages.js';

const SECOND = 1000;

/** A file that grows by 10 bytes a second. */
function grow(seconds: number, startAt = 0): LogAges {
  const ages = new LogAges();
  for (let second = 1; second <= seconds; second += 1) ages.note(10 * second, startAt + second * SECOND);
  return ages;
}

describe('agent: ages of log lines', () => {
  it('are those of the looks', () => {
    const ages = grow(3);
    expect(ages.sliceAt(0)).to.deep.equal({ at: SECOND, to: 10 });
    expect(ages.sliceAt(9)).to.deep.equal({ at: SECOND, to: 10 });
    expect(ages.sliceAt(10)).to.deep.equal({ at: 2 * SECOND, to: 20 });
    expect(ages.sliceAt(30)).to.equal(null);
  });

  it('do not change when the file has not grown', () => {
    const ages = grow(1);
    ages.note(10, 99 * SECOND);
    expect(ages.sliceAt(0)).to.deep.equal({ at: SECOND, to: 10 });
  });

  it('are exact for a quarter of an hour, and within three minutes for a night, never too early', () => {
    for (const [hours, withinS] of [
      [0.25, 0],
      [1, 8],
      [12, 180],
    ] as const) {
      const seconds = hours * 3600;
      const ages = grow(seconds);
      for (let second = 1; second <= seconds; second += 7) {
        const lateMs = ages.sliceAt(10 * second - 1)!.at - second * SECOND;
        expect(lateMs).to.be.within(0, withinS * SECOND);
      }
      expect(ages.sliceAt(10 * seconds - 1)).to.deep.equal({ at: seconds * SECOND, to: 10 * seconds });
    }
  });

  it('are forgotten for what the server has', () => {
    const ages = grow(3);
    ages.forget(15);
    expect(ages.sliceAt(0)).to.deep.equal({ at: 2 * SECOND, to: 20 });
    ages.forget(30);
    expect(ages.sliceAt(0)).to.equal(null);
  });

  it('follow a clock that is set back', () => {
    const ages = grow(3000, 5 * 3600 * SECOND);
    ages.note(40_000, SECOND);
    ages.note(50_000, 2 * SECOND);
    expect(ages.sliceAt(39_999)).to.deep.equal({ at: SECOND, to: 40_000 });
  });

  it('are put together into parts of about equal size', () => {
    expect(grow(640).partAt(0, 64)).to.deep.equal({ at: SECOND, to: 110 });
    expect(grow(3).partAt(0, 64)).to.deep.equal({ at: SECOND, to: 10 });
  });
});
