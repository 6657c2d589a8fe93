import { fromMetricValue, toMetricValue, type MetricPoint } from '@svc/contract';
import type { Db } from '@svc/kernel';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import type { PointStore } from '../src/point-store.js';
import { MAX_SERIES_PER_RUN } from '../src/point-writer.js';
import { comparePoints } from '../src/point.js';
import { CHUNK_POINTS } from '../src/series-writer.js';
import { readRun } from '../src/run-reader.js';
import { batch, clearStore, openStore, OTHER_RUN, RUN } from './store-rig.js';
import { pseudoRandom } from './points.js';

const EVERY_POINT = { limit: 1_000_000 };

describe('point store', () => {
  eachDatabase((database) => {
    let db: Db;
    let store: PointStore;
    before(async () => void ({ db, store } = await openStore(database)));
    beforeEach(() => clearStore(db));

    const write = async (points: MetricPoint[], run = RUN) => {
      const [outcome] = await store.write([batch(points, run)]);
      if (!outcome || 'error' in outcome) throw outcome?.error ?? new Error('no outcome');
      return { accepted: outcome.written.accepted.length, duplicates: outcome.written.duplicates };
    };

    it('takes each seq of a run once, and the first one stands', async () => {
      expect(await write([point(5, 1), point(5, 2), point(7, 3)])).to.deep.equal({
        accepted: 2,
        duplicates: 1,
      });
      expect(await write([point(6, 4), point(7, 5)])).to.deep.equal({ accepted: 1, duplicates: 1 });
      expect(await write([point(5, 9)], OTHER_RUN)).to.deep.equal({ accepted: 1, duplicates: 0 });
      const { loss } = await readRun(store, RUN, EVERY_POINT);
      expect(loss?.values).to.deep.equal([1, 4, 3]);
      const ranges = await db('metric_seq_ranges')
        .orderBy(['from_seq', 'to_seq'])
        .select('from_seq', 'to_seq');
      expect(ranges).to.deep.equal([
        { from_seq: 5, to_seq: 5 },
        { from_seq: 5, to_seq: 7 },
      ]);
    });

    it('keeps NaN, infinities, denormals and the widest integers exactly', async () => {
      const values = ['NaN', 'Infinity', '-Infinity', 5e-324, -1.7976931348623157e308, 0.1 + 0.2] as const;
      await write(values.map((value, step) => ({ ...point(step, 0), value })));
      const { MAX_SAFE_INTEGER: most } = Number;
      await write([point(most, 1, -most), point(most - 1, 2, most)]);
      const { loss } = await readRun(store, RUN, EVERY_POINT);
      expect(loss?.values).to.deep.equal([1, ...values, 2]);
      expect(loss?.steps).to.deep.equal([-most, 0, 1, 2, 3, 4, 5, most]);
    });

    it('refuses one batch of a group without a trace, and stores the others', async () => {
      const names = Array.from({ length: MAX_SERIES_PER_RUN }, (_, index) => ({
        ...point(index, 1),
        name: `m${index}`,
      }));
      const over = { ...point(MAX_SERIES_PER_RUN, 1), name: 'one too many' };
      const outcomes = await store.write([
        batch([point(0, 1)], OTHER_RUN),
        batch([...names, over]),
        batch([point(1, 2)], OTHER_RUN),
        batch([point(0, 3)], 'run_01HZZZZZZZZZZZZZZZZZZZZZZX'),
      ]);
      expect(outcomes.map((outcome) => 'written' in outcome)).to.deep.equal([true, false, true, false]);
      expect(outcomes[1]).to.have.nested.property('error.code', 'validation_error');
      expect((await readRun(store, OTHER_RUN, EVERY_POINT)).loss?.values).to.deep.equal([1, 2]);
      expect(await readRun(store, RUN, EVERY_POINT)).to.deep.equal({});
      expect(await db('metric_seq_ranges')).to.have.length(1);
    });

    it('shows the same store in whatever order batches come, come again and overlap', async function () {
      this.timeout(60_000);
      const anyPlan = fc.tuple(
        fc.integer({ min: 200, max: 1500 }),
        fc.integer({ min: 1, max: 400 }),
        fc.nat(),
      );
      await fc.assert(
        fc.asyncProperty(anyPlan, async ([count, size, seed]) => {
          const random = pseudoRandom(seed + 1);
          const points = plan(count, random);
          const parts = cut(points, size);
          const sent = shuffled([...parts, ...parts.slice(0, 2)], random);
          await clearStore(db);
          await store.write(sent.slice(0, 3).map((part) => batch(part)));
          for (const part of sent.slice(3)) await write(part);
          await expectExactly(store, points);
        }),
        { numRuns: database.client === 'sqlite' ? 15 : 4 },
      );
    });

    it('refuses to read more points than one answer may have, saying what to ask less of', async () => {
      for (const name of ['a', 'b', 'c'])
        await write(
          Array.from({ length: 10 }, (_, step) => ({
            ...point(name.charCodeAt(0) * 100 + step, 1, step),
            name,
          })),
        );
      expect(Object.keys(await readRun(store, RUN, { limit: 8 }, 24))).to.have.length(3);
      const refused = await readRun(store, RUN, { limit: 9 }, 24).catch((error: Error) => error);
      expect(refused)
        .to.be.an('error')
        .with.property('message')
        .that.includes('name fewer runs or metrics, or lower limit');
      expect(Object.keys(await readRun(store, RUN, { names: ['a', 'b'], limit: 9 }, 24))).to.have.length(2);
    });

    it('keeps chunks in order and apart when old steps come late', async () => {
      const late = Array.from({ length: 3000 }, (_, index) => point(index, index, index * 2));
      const early = Array.from({ length: 3000 }, (_, index) => point(10_000 + index, index, index * 2 + 1));
      await write(late);
      for (const part of cut(early, 700)) await write(part);
      const [series] = await store.read(async (rows) =>
        rows.findSeries((await rows.findRun(RUN))?.key ?? 0, ['loss']),
      );
      const heads = await store.read((rows) => rows.chunkHeads(series?.id ?? 0));
      heads.slice(1).forEach(({ position }, index) => {
        expect(comparePoints(heads[index]?.digest.last ?? position, position)).to.be.below(0);
      });
      for (const { digest } of heads) expect(digest.count).to.be.at.most(2 * CHUNK_POINTS);
      await expectExactly(store, [...late, ...early]);
    });

    it('takes sequence numbers of two processes with random bases in two ranges', async () => {
      const [one, two] = [2 ** 51, 2 ** 40];
      for (let start = 0; start < 300; start += 50) {
        for (const base of [one, two])
          await write(Array.from({ length: 50 }, (_, index) => point(base + start + index, 1)));
      }
      expect(await db('metric_seq_ranges').count('* as count').first()).to.deep.equal({ count: 2 });
    });
  });
});

function point(seq: number, value: number, step = seq): MetricPoint {
  return { seq, name: 'loss', step, value, ts: 1_700_000_000_000 + (seq % 1000) };
}

/** Three metrics, several points of one step, steps that go back once as after a restart, values of every kind. */
function plan(count: number, random: () => number): MetricPoint[] {
  const odd = [NaN, Infinity, -Infinity, -0, 5e-324];
  return Array.from({ length: count }, (_, seq) => ({
    seq,
    name: `metric ${seq % 3}`,
    step: Math.floor(seq / 5) - (seq > count / 2 ? 40 : 0),
    value: toMetricValue(odd[Math.floor(random() * 50)] ?? random()),
    ts: 1_700_000_000_000 + seq,
  }));
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = items.map((item) => ({ item, at: random() }));
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item);
}

function cut<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Every point, by step and seq, and digests that say the same. */
async function expectExactly(store: PointStore, points: readonly MetricPoint[]): Promise<void> {
  const answer = await readRun(store, RUN, EVERY_POINT);
  const names = new Set(points.map(({ name }) => name));
  expect(new Set(Object.keys(answer))).to.deep.equal(names);
  for (const name of names) {
    const wanted = points.filter((candidate) => candidate.name === name).toSorted(comparePoints);
    expect(answer[name]?.steps).to.deep.equal(wanted.map(({ step }) => step));
    expect(answer[name]?.values.map(fromMetricValue)).to.deep.equal(
      wanted.map(({ value }) => fromMetricValue(value)),
    );
    expect(answer[name]?.ts).to.deep.equal(wanted.map(({ ts }) => ts));
  }
}
