import { expect } from 'chai';
import fc from 'fast-check';
import { appendPoints, decodeLastValues, decodePoints, encodePoints } from '../src/chunk-codec.js';
import { decodeDigest, digestOf, emptyDigest, encodeDigest, mergeDigest } from '../src/digest.js';
import type { Point } from '../src/point.js';
import { anyPoints, plainPoints } from './points.js';

describe('chunk codec', () => {
  it('gives back every point as it was: NaN, -0, denormals, the widest integers', () => {
    fc.assert(
      fc.property(anyPoints(40), (points) => {
        const decoded = decodePoints(encodePoints(points));
        expect(decoded).to.have.length(points.length);
        decoded.forEach((point, index) => expectSame(point, points[index] as Point));
      }),
    );
  });

  it('appends to bytes as if all had been encoded at once', () => {
    fc.assert(
      fc.property(anyPoints(20), anyPoints(20), (head, more) => {
        fc.pre(head.length > 0);
        const appended = appendPoints(encodePoints(head), head.at(-1) as Point, more);
        decodePoints(appended).forEach((point, index) =>
          expectSame(point, [...head, ...more][index] as Point),
        );
      }),
    );
  });

  it('gives the last values alone as it gives them with their points', () => {
    fc.assert(
      fc.property(anyPoints(40), fc.nat(50), (points, wanted) => {
        const values = [...decodeLastValues(encodePoints(points), points.length, wanted)];
        const last = wanted === 0 ? [] : points.slice(-wanted);
        expect(values).to.have.length(last.length);
        values.forEach((value, index) => expect(Object.is(value, last[index]?.value)).to.equal(true));
      }),
    );
  });

  it('takes at most 14 bytes for a point of a usual training', () => {
    const points = plainPoints(Array.from({ length: 1000 }, (_, step) => Math.exp(-step / 100)));
    const spread = points.map((point, index) => ({
      ...point,
      seq: 2 ** 45 + index * 20,
      epoch: Math.floor(index / 100),
    }));
    expect(encodePoints(spread).length / 1000).to.be.below(14.2);
  });

  it('refuses bytes of another format', () => {
    expect(() => decodePoints(Buffer.of(7, 1, 2))).to.throw('unknown format');
  });
});

describe('digest', () => {
  it('of two sets merges to that of their union, and survives its bytes', () => {
    fc.assert(
      fc.property(anyPoints(30), fc.nat(30), (points, cut) => {
        const merged = emptyDigest();
        for (const part of [points.slice(cut), points.slice(0, cut)]) mergeDigest(merged, digestOf(part));
        expect(encodeDigest(merged).equals(encodeDigest(digestOf(points)))).to.equal(true);
        expect(encodeDigest(decodeDigest(encodeDigest(merged))).equals(encodeDigest(merged))).to.equal(true);
      }),
    );
  });

  it('keeps the first of equal extremes, and one of each value that is not finite', () => {
    const digest = digestOf(plainPoints([3, 1, NaN, 1, 3, Infinity, NaN, -Infinity]));
    expect(digest).to.include({ count: 8, nan_count: 2 });
    const steps = [digest.first, digest.last, digest.min, digest.max, digest.nan, digest.inf, digest.neg_inf];
    expect(steps.map((point) => point?.step)).to.deep.equal([0, 7, 1, 0, 2, 5, 7]);
  });
});

function expectSame(actual: Point, expected: Point): void {
  expect(Object.is(actual.value, expected.value), `${actual.value} is ${expected.value}`).to.equal(true);
  const { step, seq, ts, epoch } = expected;
  expect({ ...actual, value: 0 }).to.deep.equal({ step: step + 0, seq, ts, value: 0, epoch });
}
