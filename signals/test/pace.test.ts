import { expect } from 'chai';
import { courseOf, hasBecomeSlow, paceBetween, paceOf, timeLeftOf } from '../src/index.js';

const at = (...points: [step: number, ts: number][]) => points.map(([step, ts]) => ({ step, ts }));
/** One step each `ms`, from that step and time on. */
const steady = (count: number, ms: number, step = 0, ts = 0) =>
  Array.from({ length: count }, (_, index) => ({ step: step + index, ts: ts + ms * index }));

describe('pace', () => {
  it('is the steps over the time, with its slowest and fastest quarter', () => {
    const pace = paceOf(at([0, 0], [10, 1_000], [20, 3_000], [30, 4_000], [40, 8_000]));
    expect(pace).to.deep.equal({ steps_per_s: 5, slowest: 2.5, fastest: 10, usual: 10 });
  });

  it('is usual in the median, so that a pause does not count', () => {
    const pace = paceOf([...steady(20, 1_000), ...steady(20, 1_000, 20, 319_000)]);
    expect(pace?.usual).to.equal(1);
    expect(pace?.steps_per_s).to.be.closeTo(39 / 338, 0.001);
  });

  it('is that of the points since the steps went back', () => {
    const pace = paceOf([...steady(40, 1_000, 60), ...steady(20, 500, 70, 100_000)]);
    expect(pace).to.deep.equal({ steps_per_s: 2, slowest: 2, fastest: 2, usual: 2 });
  });

  it('takes the last of points of one time or one step, in whatever order they come', () => {
    const pace = paceOf(
      at([5, 2_000], [0, 0], [1, 0], [2, 1_000], [3, 1_000], [5, 2_500], [7, 3_000], [9, 4_000]),
    );
    expect(pace).to.deep.equal({ steps_per_s: 2, slowest: 2, fastest: 2, usual: 2 });
  });

  it('is unknown from too few points, and of a run that stands still', () => {
    expect(paceOf([])).to.equal(null);
    expect(paceOf(steady(4, 1_000))).to.equal(null);
    expect(paceOf(at([5, 0], [5, 100], [5, 200], [5, 300], [5, 400], [5, 500]))).to.equal(null);
    expect(paceOf(at([0, 7], [1, 7], [2, 7], [3, 7], [4, 7], [5, 7]))).to.equal(null);
    expect(paceBetween({ step: 3, ts: 0 }, { step: 2, ts: 1 })).to.equal(0);
  });

  it('gives the time left with its spread, to which the pace of the whole run belongs', () => {
    const pace = { steps_per_s: 10, slowest: 5, fastest: 20, usual: 10 };
    expect(timeLeftOf(pace, 0, 100)).to.deep.equal({ likely_s: 10, least_s: 5, most_s: 20 });
    expect(timeLeftOf(pace, 2, 100)).to.deep.equal({ likely_s: 10, least_s: 5, most_s: 50 });
    expect(timeLeftOf(pace, 50, 0)).to.deep.equal({ likely_s: 0, least_s: 0, most_s: 0 });
  });

  it('has become slow when it is less than half of that before, for a minute, and not for one pause', () => {
    const slow = { steps_per_s: 1, slowest: 1, fastest: 1, usual: 1 };
    expect(hasBecomeSlow(slow, 3, 120_000)).to.equal(true);
    expect(hasBecomeSlow(slow, 1.9, 120_000)).to.equal(false);
    expect(hasBecomeSlow(slow, 3, 59_000)).to.equal(false);
    expect(hasBecomeSlow({ ...slow, usual: 3 }, 3, 120_000)).to.equal(false);
    expect(hasBecomeSlow(slow, 0, 120_000)).to.equal(false);
  });
});

describe('course', () => {
  it('rule 6: is_improving is null while the trend is unknown, and is_stalled is false then', () => {
    expect(courseOf('unknown', 'minimize')).to.deep.equal({ is_improving: null, is_stalled: false });
  });

  it('rule 6: is_stalled is true only while the trend is stable', () => {
    expect(courseOf('stable', 'maximize')).to.deep.equal({ is_improving: false, is_stalled: true });
    expect(courseOf('increasing', 'minimize').is_stalled).to.equal(false);
  });

  it('rule 1: follows the direction, and is not told while that is unknown', () => {
    expect(courseOf('decreasing', 'minimize').is_improving).to.equal(true);
    expect(courseOf('decreasing', 'maximize').is_improving).to.equal(false);
    expect(courseOf('decreasing', null)).to.deep.equal({ is_improving: null, is_stalled: false });
  });
});
