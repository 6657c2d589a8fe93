import fc from 'fast-check';
import type { Point } from '../src/point.js';

const MAX_SAFE = Number.MAX_SAFE_INTEGER;

/** Values as trainings log them, and as they should not. */
export const anyValue = fc.oneof(
  { weight: 8, arbitrary: fc.double({ noNaN: true, min: -1e6, max: 1e6 }) },
  { weight: 2, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity, 0, -0, 5e-324, Number.MAX_VALUE) },
);

export const anyPoint: fc.Arbitrary<Point> = fc.record({
  step: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: -MAX_SAFE, max: MAX_SAFE })),
  seq: fc.oneof(fc.nat(1000), fc.maxSafeNat()),
  ts: fc.oneof(fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }), fc.constantFrom(0, 8.64e15)),
  value: anyValue,
  epoch: fc.option(fc.oneof(fc.nat(3), fc.double({ noNaN: true }))),
});

/** Points of one series: no two of one seq. */
export function anyPoints(maxLength: number): fc.Arbitrary<Point[]> {
  return fc.uniqueArray(anyPoint, { selector: ({ seq }) => seq, maxLength });
}

/** An ordinary series: one point for each step from 0. */
export function plainPoints(values: readonly number[]): Point[] {
  return values.map((value, step) => ({
    step,
    seq: step,
    ts: 1_700_000_000_000 + step * 100,
    value,
    epoch: null,
  }));
}

/** Numbers from 0 to 1, the same ones for a seed of 1 or more. */
export function pseudoRandom(seed: number): () => number {
  let state = seed % 2_147_483_647;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}
