import { expect } from 'chai';
import fc from 'fast-check';
import { emptySeries, mergePoints, toMetricSeries, toPoints, type Point } from '../src/chart/series-store.js';

const point = (step: number, value: number, ts = step): Point => ({ step, value, ts });

describe('mergePoints', () => {
  it('appends and counts', () => {
    const series = emptySeries();
    expect(mergePoints(series, [point(1, 0.5), point(2, 0.4)])).to.equal(2);
    expect(series).to.deep.include({ steps: [1, 2], values: [0.5, 0.4], total: 2 });
  });

  it('adds nothing that it holds, NaN included', () => {
    const series = emptySeries();
    const points = [point(1, NaN), point(2, Infinity), point(2, 3)];
    mergePoints(series, points);
    expect(mergePoints(series, points)).to.equal(0);
    expect(series.values).to.deep.equal([NaN, Infinity, 3]);
  });

  it('keeps two values of one step', () => {
    const series = emptySeries();
    mergePoints(series, [point(5, 1, 10), point(5, 2, 11)]);
    expect(series.values).to.deep.equal([1, 2]);
  });

  it('puts a late point in its place', () => {
    const series = emptySeries();
    mergePoints(series, [point(1, 1), point(4, 4)]);
    mergePoints(series, [point(2, 2), point(3, 3), point(9, 9)]);
    expect(series.steps).to.deep.equal([1, 2, 3, 4, 9]);
    expect(series.ts).to.deep.equal([1, 2, 3, 4, 9]);
  });

  it('holds the same series in whatever order and however often points come', () => {
    const points = fc.array(
      fc.record({
        step: fc.integer({ min: 0, max: 20 }),
        value: fc.constantFrom(0, 1, NaN, -Infinity),
        ts: fc.nat(5),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(points, fc.array(fc.nat(40), { maxLength: 4 }), (all, cuts) => {
        const once = emptySeries();
        mergePoints(once, all);
        const pieces = emptySeries();
        const edges = [0, ...cuts.filter((cut) => cut <= all.length).sort((a, b) => a - b), all.length];
        edges.slice(1).forEach((edge, at) => mergePoints(pieces, all.slice(edges[at], edge).reverse()));
        mergePoints(pieces, all);
        expect([...pieces.steps]).to.deep.equal([...once.steps]);
        expect(pieces.total).to.equal(once.total);
        const key = (series: typeof once): string[] =>
          series.steps.map((step, at) => `${step} ${series.ts[at]} ${series.values[at]}`).sort();
        expect(key(pieces)).to.deep.equal(key(once));
      }),
    );
  });
});

describe('a series answer', () => {
  const answer = {
    steps: [1, 2, 3],
    values: [0.1, 'NaN', '-Infinity'],
    ts: [5, 6, 7],
    total: 900,
    downsampled: true,
  } as const;

  it('becomes numbers, with what the server has in all', () => {
    const series = toMetricSeries({
      ...answer,
      steps: [...answer.steps],
      values: [...answer.values],
      ts: [...answer.ts],
    });
    expect(series).to.deep.equal({
      steps: [1, 2, 3],
      values: [0.1, NaN, -Infinity],
      ts: [5, 6, 7],
      total: 900,
    });
  });

  it('becomes points that repair a series', () => {
    const series = emptySeries();
    mergePoints(series, [point(1, 0.1, 5)]);
    const fresh = toPoints({
      ...answer,
      steps: [...answer.steps],
      values: [...answer.values],
      ts: [...answer.ts],
    });
    expect(mergePoints(series, fresh)).to.equal(2);
  });
});
