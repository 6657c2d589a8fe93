import { expect } from 'chai';
import fc from 'fast-check';
import { decodeChunk, encodeChunk } from '../src/chunk.js';
import { toMinuteMeans } from '../src/rollup.js';
import type { Samples } from '../src/samples.js';
import { toThinned } from '../src/thin.js';

const value = fc.oneof(fc.double(), fc.constant(NaN));
const samples: fc.Arbitrary<Samples> = fc
  .array(fc.integer({ min: 1, max: 1e7 }), { minLength: 1, maxLength: 200 })
  .chain((gaps) =>
    fc
      .dictionary(
        fc.string({ minLength: 1 }),
        fc.array(value, { minLength: gaps.length, maxLength: gaps.length }),
      )
      .map((columns) => ({ ts: toTimes(gaps), columns: new Map(Object.entries(columns)) })),
  );

function toTimes(gaps: readonly number[]): number[] {
  let at = 1_700_000_000_000;
  return gaps.map((gap) => (at += gap));
}

const plain = ({ ts, columns }: Samples) => ({
  ts: [...ts],
  columns: [...columns].map(([name, values]) => [name, Array.from(values)]),
});

describe('node metrics: a chunk', () => {
  it('gives back every sample bit by bit, whatever is in it', () => {
    fc.assert(
      fc.property(samples, (given) => {
        expect(plain(decodeChunk(encodeChunk(given), null))).to.deep.equal(plain(given));
      }),
    );
  });

  it('decodes the metrics that are asked for and no other', () => {
    const columns = new Map([
      ['a', [1, 2]],
      ['b', [NaN, 4]],
      ['c', [5, 6]],
    ]);
    const bytes = encodeChunk({ ts: [10, 20], columns });
    const decoded = decodeChunk(bytes, new Set(['b', 'unknown']));
    expect(plain(decoded)).to.deep.equal({ ts: [10, 20], columns: [['b', [NaN, 4]]] });
  });

  it('takes about two bytes for a value that hardly changes', () => {
    const ts = Array.from({ length: 150 }, (_, index) => 1_700_000_000_000 + 2000 * index);
    const flat = (level: number) => ts.map((_, index) => level + (index % 3));
    const columns = new Map(Array.from({ length: 64 }, (_, index) => [`gpu.${index}.util`, flat(index)]));
    expect(encodeChunk({ ts, columns }).length / (64 * 150)).to.be.below(2);
  });
});

describe('node metrics: a thinned series', () => {
  it('keeps the limit, the order, the first, the last, and the extremes of the whole', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 500 }),
        fc.integer({ min: 4, max: 100 }),
        (values, limit) => {
          const ts = values.map((_, index) => index);
          const thinned = toThinned({ ts, values }, limit);
          expect(thinned.ts.length).to.be.at.most(limit);
          expect(thinned.total).to.equal(values.length);
          expect(thinned.downsampled).to.equal(values.length > limit);
          expect(thinned.ts).to.deep.equal([...thinned.ts].sort((a, b) => a - b));
          expect(thinned.ts.map((at) => values[at])).to.deep.equal(thinned.values);
          expect([thinned.ts[0], thinned.ts.at(-1)]).to.deep.equal([0, values.length - 1]);
          expect(Math.max(...thinned.values)).to.equal(Math.max(...values));
          expect(Math.min(...thinned.values)).to.equal(Math.min(...values));
        },
      ),
    );
  });

  for (const limit of [1, 2, 3]) {
    it(`keeps a limit of ${limit}`, () => {
      const thinned = toThinned({ ts: [1, 2, 3, 4, 5], values: [5, 4, 3, 2, 1] }, limit);
      expect(thinned.ts).to.deep.equal([1, 5].slice(0, limit));
    });
  }
});

describe('node metrics: means of a minute', () => {
  it('are of all samples of the minute, at its beginning, and of the metrics that have some', () => {
    const minute = 1_700_000_040_000;
    const first = { ts: [minute, minute + 20_000], columns: new Map([['a', [1, 2]]]) };
    const second = {
      ts: [minute + 40_000, minute + 60_000],
      columns: new Map([
        ['a', [6, NaN]],
        ['b', [NaN, 8]],
      ]),
    };
    expect(plain(toMinuteMeans([first, second]))).to.deep.equal({
      ts: [minute, minute + 60_000],
      columns: [
        ['a', [3, NaN]],
        ['b', [NaN, 8]],
      ],
    });
  });
});
