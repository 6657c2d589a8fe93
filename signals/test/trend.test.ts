import { expect } from 'chai';
import fc from 'fast-check';
import { medianOf } from '../src/median.js';
import { trendOf as trendOfRecent } from '../src/trend.js';
import { pseudoRandom } from './pseudo-random.js';

const anyIntegers = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 4, maxLength: 100 });
const MIRROR = {
  increasing: 'decreasing',
  decreasing: 'increasing',
  stable: 'stable',
  unknown: 'unknown',
} as const;

const trendOf = (values: readonly number[]) => trendOfRecent(Float64Array.from(values));

describe('trend', () => {
  it('is unknown under 4 points', () => {
    for (const values of [[], [1], [1, 2], [1, 2, 3], [1, NaN, 2, Infinity, 3]])
      expect(trendOf(values)).to.equal('unknown');
  });

  it('of a line is its direction, of a constant stable, however long it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 200 }), fc.integer({ min: -50, max: 50 }), (length, slope) => {
        const line = Array.from({ length }, (_, index) => slope * index);
        expect(trendOf(line)).to.equal(slope > 0 ? 'increasing' : slope < 0 ? 'decreasing' : 'stable');
      }),
    );
  });

  it('does not depend on unit and origin', () => {
    fc.assert(
      fc.property(
        anyIntegers,
        fc.integer({ min: -20, max: 20 }),
        fc.integer({ min: -1e6, max: 1e6 }),
        (values, power, shift) => {
          const scaled = values.map((value) => (value + shift) * 2 ** power);
          expect(trendOf(scaled)).to.equal(trendOf(values));
        },
      ),
    );
  });

  it('does not depend on a scale that rounds', () => {
    const anyScale = fc.double({ min: 1e-6, max: 1e6, noNaN: true });
    const anyShift = fc.double({ min: -1e3, max: 1e3, noNaN: true });
    const anyNoisy = fc.record({
      length: fc.integer({ min: 4, max: 100 }),
      slope: fc.constantFrom(0, 1e-4, 0.003, 0.02, 0.3, -0.01, -2),
      seed: fc.integer({ min: 1, max: 1e6 }),
    });
    fc.assert(
      fc.property(anyNoisy, anyScale, anyShift, ({ length, slope, seed }, scale, shift) => {
        const noise = pseudoRandom(seed);
        const values = Array.from({ length }, (_, index) => slope * index + noise());
        expect(trendOf(values.map((value) => value * scale + shift * scale))).to.equal(trendOf(values));
      }),
    );
  });

  it('turns over with its values', () => {
    fc.assert(
      fc.property(anyIntegers, (values) => {
        expect(trendOf(values.map((value) => -value))).to.equal(MIRROR[trendOf(values)]);
      }),
    );
  });

  it('sees a falling loss through noise and spikes, and nothing in noise alone', () => {
    const noise = pseudoRandom(7);
    const falling = Array.from({ length: 64 }, (_, step) => 2 - step * 0.02 + (noise() - 0.5) * 0.2);
    falling[20] = 500;
    falling[50] = 900;
    expect(trendOf(falling)).to.equal('decreasing');
    const flat = Array.from({ length: 200 }, () =>
      Array.from({ length: 64 }, () => noise() + noise() + noise()),
    );
    const falseAlarms = flat.filter((values) => trendOf(values) !== 'stable').length;
    expect(falseAlarms).to.be.below(10);
  });

  it('looks at the last 64 points alone', () => {
    const turned = [
      ...Array.from({ length: 500 }, (_, step) => 500 - step),
      ...Array.from({ length: 64 }, (_, step) => step),
    ];
    expect(trendOf(turned)).to.equal('increasing');
  });

  it('takes the largest and the smallest numbers', () => {
    expect(trendOf([-1.7e308, 1.7e308, -1.7e308, 1.7e308])).to.equal('stable');
    expect(trendOf([1e308, 1.2e308, 1.4e308, 1.6e308])).to.equal('increasing');
    expect(trendOf([20e-324, 15e-324, 10e-324, 5e-324])).to.equal('decreasing');
  });
});

describe('median', () => {
  it('is that of the sorted numbers, whatever their order', () => {
    const anyNumbers = fc.array(fc.oneof(fc.double({ noNaN: true }), fc.integer({ min: -3, max: 3 })), {
      minLength: 1,
      maxLength: 80,
    });
    fc.assert(
      fc.property(anyNumbers, (numbers) => {
        const sorted = Float64Array.from(numbers).sort();
        const [low, high] = [(sorted.length - 1) >>> 1, sorted.length >>> 1].map(
          (at) => sorted[at] as number,
        ) as [number, number];
        const wanted = low === high ? low : (low + high) / 2;
        const found = medianOf(Float64Array.from(numbers));
        expect(found === wanted || (Number.isNaN(found) && Number.isNaN(wanted))).to.equal(true);
      }),
    );
  });
});
