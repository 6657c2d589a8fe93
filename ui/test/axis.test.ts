import { expect } from 'chai';
import {
  formatX,
  formatXTicks,
  linearScale,
  logScale,
  niceTicks,
  timeTicks,
  widenX,
} from '../src/chart/axis.js';
import { formatTicks } from '../src/format.js';

/** The labels of a linear axis for values of that range, as the chart makes them. */
function labels(
  min: number,
  max: number,
  scale = linearScale(Math.max(Math.abs(min), Math.abs(max))),
): string[] {
  const [from, to] = scale.bounds(scale.toPlot(min), scale.toPlot(max));
  return formatTicks(scale.ticks(from, to, 5).map((tick) => scale.fromPlot(tick)));
}

describe('the y axis', () => {
  it('has short labels for very large and very small values', () => {
    expect(labels(1e301, 5e301)).to.deep.equal(['1e301', '2e301', '3e301', '4e301', '5e301']);
    expect(labels(1e-12, 5e-12)).to.deep.equal(['1e−12', '2e−12', '3e−12', '4e−12', '5e−12']);
    expect(labels(-1.7e308, 1.7e308)).to.deep.equal(['−1e308', '0', '1e308']);
  });

  it('has a single value and a constant in its middle', () => {
    for (const value of [0.5, 3, 1e301, 1e-12, -20]) {
      const scale = linearScale(Math.abs(value));
      const [from, to] = scale.bounds(scale.toPlot(value), scale.toPlot(value));
      expect((from + to) / 2).to.be.closeTo(scale.toPlot(value), 1e-9);
      expect(to).to.be.above(from);
    }
    expect(linearScale(0).bounds(0, 0)).to.deep.equal([-1, 1]);
  });

  it('holds every value: a spike is in view', () => {
    const [from, to] = linearScale(99).bounds(0.7, 99);
    expect(from).to.be.below(0.7);
    expect(to).to.be.above(99);
  });

  it('reaches its limits, and further where values do', () => {
    expect(linearScale(40, { min: 0, max: 100 }).bounds(20, 40)).to.deep.equal([0, 100]);
    expect(linearScale(110, { min: 0, max: 100 }).bounds(20, 110)).to.deep.equal([0, 110]);
  });

  it('has decades on a log axis, and parts of one within a few', () => {
    expect(labels(1e-10, 1e9, logScale())).to.deep.equal(['1e−10', '1e−5', '1', '100k', '1e10']);
    expect(labels(1, 20, logScale())).to.deep.equal(['1', '2', '5', '10', '20']);
    expect(labels(2, 3, logScale())).to.deep.equal(['2', '2.5', '3']);
    expect(labels(1.7e308, 1.7e308, logScale())).to.deep.equal(['1e308', '1.5e308']);
  });
});

describe('niceTicks', () => {
  it('are round numbers within the range', () => {
    expect(niceTicks(0.05, 1.02, 5)).to.deep.equal([0.2, 0.4, 0.6, 0.8, 1]);
    expect(niceTicks(0, 3, 10, 1)).to.deep.equal([0, 1, 2, 3]);
    expect(niceTicks(5, 5, 4)).to.deep.equal([5]);
  });
});

describe('the x axis', () => {
  const NOON = Date.UTC(2026, 0, 5, 12);

  it('has full minutes, hours and days', () => {
    const gaps = [60_000, 3_600_000, 86_400_000, 30 * 86_400_000].map((length) => {
      const [first, second] = timeTicks(NOON, NOON + length, 6);
      return second! - first!;
    });
    expect(gaps).to.deep.equal([10_000, 600_000, 6 * 3_600_000, 7 * 86_400_000]);
  });

  it('begins days at the local midnight', () => {
    const ticks = timeTicks(NOON, NOON + 5 * 86_400_000, 5, 3_600_000);
    expect(ticks.map((tick) => (tick + 3_600_000) % 86_400_000)).to.deep.equal([0, 0, 0, 0, 0]);
  });

  it('has fewer times where each one has milliseconds', () => {
    expect(timeTicks(NOON, NOON + 3_000, 6)).to.deep.equal([0, 1_000, 2_000, 3_000].map((ms) => NOON + ms));
  });

  it('tells time apart at every zoom', () => {
    for (const length of [5, 900, 7_000, 500_000, 80_000_000, 40 * 86_400_000]) {
      const texts = formatXTicks('time', timeTicks(NOON, NOON + length, 6));
      expect(new Set(texts).size, String(length)).to.equal(texts.length);
    }
  });

  it('counts from the start where it is the time since then', () => {
    expect(formatXTicks('elapsed', [0, 90_000, 3_600_000, 90_000_000])).to.deep.equal([
      '0',
      '1m 30s',
      '1h',
      '1d 1h',
    ]);
    expect(formatXTicks('elapsed', [-30_000, 500])).to.deep.equal(['−30s', '0.5s']);
  });

  it('has a single point in its middle', () => {
    expect(widenX('step', 5, 5)).to.deep.equal([4, 6]);
    expect(widenX('time', NOON, NOON)).to.deep.equal([NOON - 30_000, NOON + 30_000]);
    expect(widenX('epoch', 1, 2)).to.deep.equal([1, 2]);
  });

  it('is said in words', () => {
    expect([formatX('step', 1200), formatX('epoch', 1.23456), formatX('elapsed', 61_000)]).to.deep.equal([
      'Step 1,200',
      'Epoch 1.235',
      'After 1m 01s',
    ]);
  });
});
