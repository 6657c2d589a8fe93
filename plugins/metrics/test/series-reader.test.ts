import { toMetricValue } from '@svc/contract';
import { expect } from 'chai';
import fc from 'fast-check';
import { digestOf } from '../src/digest.js';
import { comparePoints, type Point } from '../src/point.js';
import { readSeries, type Segment, type Selection } from '../src/series-reader.js';
import { anyPoints, plainPoints } from './points.js';

const EVERYTHING: Selection = { step_from: -Infinity, step_to: Infinity, ts_from: -Infinity };

const anyLimit = fc.integer({ min: 1, max: 40 });
const bound = fc.option(fc.integer({ min: -5, max: 55 }), { nil: null });
const anySelection: fc.Arbitrary<Selection> = fc
  .record({ from: bound, to: bound, ts: fc.option(fc.nat(100_000)) })
  .map((given) => ({
    step_from: given.from ?? -Infinity,
    step_to: given.to ?? Infinity,
    ts_from: given.ts === null ? -Infinity : 1_700_000_000_000 + given.ts,
  }));

describe('reading a series', () => {
  it('gives every selected point, in order, while they are within the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyPoints(60),
        anySelection,
        fc.integer({ min: 1, max: 9 }),
        async (points, selection, size) => {
          const wanted = select(points, selection);
          const answer = await readSeries(segments(points, size), selection, 60);
          expect(answer).to.deep.equal({
            steps: wanted.map(({ step }) => step),
            values: wanted.map(({ value }) => toMetricValue(value)),
            ts: wanted.map(({ ts }) => ts),
            ...(wanted.some(({ epoch }) => epoch !== null) && { epochs: wanted.map(({ epoch }) => epoch) }),
            total: wanted.length,
            downsampled: false,
          });
        },
      ),
    );
  });

  it('thins to at most the limit, keeps first, last and extremes, and invents nothing', async () => {
    await fc.assert(
      fc.asyncProperty(anyPoints(120), anySelection, anyLimit, async (points, selection, limit) => {
        const wanted = select(points, selection);
        const { steps, values, ts, total, downsampled } = await readSeries(
          segments(points, 7),
          selection,
          limit,
        );
        expect(total).to.equal(wanted.length);
        expect(downsampled).to.equal(wanted.length > limit);
        expect(steps.length).to.be.at.most(limit);
        const stored = new Set(wanted.map(toText));
        steps.forEach((step, index) => expect(stored).to.include(`${step} ${values[index]} ${ts[index]}`));
        if (wanted.length === 0) return;
        expect(steps.at(-1)).to.equal(wanted.at(-1)?.step);
        if (limit > 1) expect(steps[0]).to.equal(wanted[0]?.step);
        if (limit >= 7) expectExtremes(wanted, values);
      }),
    );
  });

  it('answers by the points alone, however they are cut into segments', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyPoints(100),
        anySelection,
        anyLimit,
        fc.integer({ min: 1, max: 9 }),
        async (points, selection, limit, size) => {
          const one = await readSeries(segments(points, 1000), selection, limit);
          expect(await readSeries(segments(points, size), selection, limit)).to.deep.equal(one);
        },
      ),
    );
  });

  it('shows a spike and a NaN that are one point in a hundred thousand', async () => {
    const values = Array.from({ length: 100_000 }, (_, step) => Math.sin(step / 1000));
    values[77_777] = 99;
    values[12_345] = NaN;
    const answer = await readSeries(segments(plainPoints(values), 256), EVERYTHING, 500);
    expect(answer.steps).to.include(77_777).and.to.include(12_345);
    expect(answer.total).to.equal(100_000);
    expect(answer.steps.length).to.be.within(250, 500);
  });

  it('loads few segments for a thinned answer', async () => {
    let loads = 0;
    const all = segments(plainPoints(Array.from({ length: 100_000 }, (_, step) => step)), 256);
    const counted = all.map((segment) => ({ ...segment, load: () => ((loads += 1), segment.load()) }));
    await readSeries(counted, { ...EVERYTHING, step_from: 1000, step_to: 99_000 }, 300);
    expect(loads).to.be.at.most(3);
  });
});

function segments(points: readonly Point[], size: number): Segment[] {
  const ordered = points.toSorted(comparePoints);
  const parts = Array.from({ length: Math.ceil(ordered.length / size) }, (_, index) =>
    ordered.slice(index * size, (index + 1) * size),
  );
  return parts.map((part) => ({ digest: digestOf(part), load: () => Promise.resolve(part) }));
}

function select(points: readonly Point[], { step_from, step_to, ts_from }: Selection): Point[] {
  return points
    .filter(({ step, ts }) => step >= step_from && step <= step_to && ts >= ts_from)
    .toSorted(comparePoints);
}

function toText({ step, value, ts }: Point): string {
  return `${step} ${toMetricValue(value)} ${ts}`;
}

function expectExtremes(wanted: readonly Point[], values: readonly unknown[]): void {
  const finite = wanted.map(({ value }) => value).filter(Number.isFinite);
  const odd = wanted.map(({ value }) => toMetricValue(value)).filter((value) => typeof value === 'string');
  const needed = [
    ...new Set([...odd, ...(finite.length > 0 ? [Math.min(...finite), Math.max(...finite)] : [])]),
  ];
  for (const value of needed)
    expect(
      values.some((kept) => kept === value),
      `${value} is kept`,
    ).to.equal(true);
}
