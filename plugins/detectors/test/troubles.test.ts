import type { Detector, DetectorInput, Finding } from '@svc/contract';
import { fakeClock } from '@svc/kernel/testing';
import { strict } from '@svc/contract';
import { expect } from 'chai';
import { Type } from 'typebox';
import { Waiting } from '../src/engine/happenings.js';
import { configure } from '../src/engine/settings.js';
import { SteadyTime } from '../src/engine/steady-time.js';
import { Subjects } from '../src/engine/subjects.js';
import { Troubles } from '../src/engine/troubles.js';

const finding = (fingerprint: string, title = ''): Finding => ({ fingerprint, type: 'TEST', title });
const S = 1000;

describe('trouble', () => {
  it('is told once while it lasts', () => {
    const troubles = new Troubles({ holdMs: 0, cooldownMs: 0 });
    expect(troubles.take(0, [finding('a')], [])).to.have.length(1);
    expect(
      troubles.take(S, [finding('a'), finding('b')], []).map(({ fingerprint }) => fingerprint),
    ).to.deep.equal(['b']);
  });

  it('is told when it has lasted for the hold, also without a further finding, and with the newest one', () => {
    const troubles = new Troubles({ holdMs: 10 * S, cooldownMs: 0 });
    expect(troubles.take(0, [finding('a', 'old')], [])).to.deep.equal([]);
    expect(troubles.take(5 * S, [finding('a', 'new')], [])).to.deep.equal([]);
    expect(troubles.due(9 * S)).to.deep.equal([]);
    expect(troubles.due(10 * S)).to.deep.equal([finding('a', 'new')]);
    expect(troubles.due(90 * S)).to.deep.equal([]);
  });

  it('that is over before the hold is never told', () => {
    const troubles = new Troubles({ holdMs: 10 * S, cooldownMs: 0 });
    troubles.take(0, [finding('a')], []);
    troubles.take(5 * S, [], ['a']);
    expect(troubles.due(60 * S)).to.deep.equal([]);
  });

  it('that comes back is told again after the cool-down, if it still lasts then', () => {
    const troubles = new Troubles({ holdMs: 0, cooldownMs: 60 * S });
    troubles.take(0, [finding('a')], []);
    troubles.take(5 * S, [], ['a']);
    expect(troubles.take(10 * S, [finding('a')], [])).to.deep.equal([]);
    expect(troubles.due(59 * S)).to.deep.equal([]);
    expect(troubles.due(60 * S)).to.have.length(1);
  });

  it('without a cool-down is told once for its subject', () => {
    const troubles = new Troubles({ holdMs: 0, cooldownMs: null });
    troubles.take(0, [finding('a')], []);
    troubles.take(5 * S, [], ['a']);
    expect(troubles.take(1e9, [finding('a')], [])).to.deep.equal([]);
  });

  it('has a bounded number of fingerprints', () => {
    const troubles = new Troubles({ holdMs: 0, cooldownMs: 0 });
    const many = Array.from({ length: 1000 }, (_, index) => finding(`f${index}`));
    expect(troubles.take(0, many, [])).to.have.length(64);
    expect(
      troubles.take(
        1,
        [],
        many.map(({ fingerprint }) => fingerprint),
      ),
    ).to.deep.equal([]);
    expect(troubles.take(2, many, [])).to.have.length(64);
  });
});

describe('trouble with ever other fingerprints', () => {
  const HOUR = 3_600 * S;

  it('makes room when its cool-down is over, and says when there is none', () => {
    const troubles = new Troubles({ holdMs: 0, cooldownMs: 60 * S });
    for (let index = 0; index < 64; index += 1)
      expect(troubles.take(index, [finding(`f${index}`)], [])).to.have.length(1);
    expect(troubles.takeLost()).to.equal(false);
    expect(troubles.take(S, [finding('further')], [])).to.deep.equal([]);
    expect([troubles.takeLost(), troubles.takeLost()]).to.deep.equal([true, false]);
    // What lasts is not told again.
    troubles.take(HOUR, [finding('f0')], []);
    const told = troubles.take(2 * HOUR, [finding('f0'), finding('further')], []);
    expect(told.map(({ fingerprint }) => fingerprint)).to.deep.equal(['further']);
  });
});

describe('the time of detectors', () => {
  it('goes on with the clock, and neither back nor ahead when the clock is set or the server stood still', async () => {
    const clock = fakeClock(1_000_000_000);
    let offsetMs = 0;
    const time = new SteadyTime({ ...clock, now: () => clock.now() + offsetMs });
    expect(time.now()).to.equal(1_000_000_000);
    await clock.advance(5 * S);
    expect(time.now()).to.equal(1_000_005_000);
    offsetMs = -3_600_000;
    expect(time.now()).to.equal(1_000_005_000);
    await clock.advance(5 * S);
    expect(time.now()).to.equal(1_000_010_000);
    offsetMs = 3_600_000;
    expect(time.now()).to.equal(1_000_010_000);
    await clock.advance(5 * S);
    expect(time.now()).to.equal(1_000_015_000);
  });
});

/** Finds every value over its limit, and throws at a value of 666. */
const limit: Detector = {
  name: 'limit',
  of: 'run',
  takes: ['metric'],
  finds: [{ type: 'OVER_LIMIT', severity: 'warning', when: 'a value is over the limit' }],
  optionsSchema: strict({ limit: Type.Number({ default: 10 }) }),
  wantsMetric: (name) => name === 'x',
  init: (options) => ({ options, seen: 0 }),
  step(memory, input) {
    const { options, seen } = memory as { options: { limit: number }; seen: number };
    if (input.kind !== 'metric') throw new Error('it takes metrics alone');
    const values = input.points.map(({ value }) => Number(value));
    if (values.includes(666)) throw new Error('afraid');
    const findings = values
      .filter((value) => value > options.limit)
      .map((value) => finding(`${value} after ${seen}`));
    return { memory: { options, seen: seen + values.length }, findings };
  },
};

const refuse = (path: string, message: string): never => {
  throw new Error(`${path}: ${message}`);
};
const point = (run_id: string, values: readonly number[], name = 'x', at = 0): DetectorInput => ({
  kind: 'metric',
  at,
  run_id,
  points: values.map((value, seq) => ({ seq, step: seq, name, value })),
});

describe('detectors of third parties', () => {
  const all = new Map([['limit', limit]]);
  const subjectsOf = (settings = {}, errors: string[] = []) =>
    new Subjects(configure(all, settings, refuse), (name, error) => errors.push(`${name}: ${String(error)}`));
  const feed = (subjects: Subjects, run: string, values: readonly number[], name?: string) =>
    subjects.feed({ of: 'run', id: run }, point(run, values, name)).map((told) => told.finding.fingerprint);

  it('get their options, the metrics that they want, and a memory for each run', () => {
    const subjects = subjectsOf({ limit: { limit: 5 } });
    expect(feed(subjects, 'a', [1, 2])).to.deep.equal([]);
    expect(feed(subjects, 'a', [7])).to.deep.equal(['7 after 2']);
    expect(feed(subjects, 'b', [8])).to.deep.equal(['8 after 0']);
    expect(feed(subjects, 'a', [9], 'y')).to.deep.equal([]);
  });

  it('that throw are reported and begin anew', () => {
    const errors: string[] = [];
    const subjects = subjectsOf({}, errors);
    feed(subjects, 'a', [1, 2]);
    expect(feed(subjects, 'a', [666])).to.deep.equal([]);
    expect(errors).to.deep.equal(['limit: Error: afraid']);
    expect(feed(subjects, 'a', [11])).to.deep.equal(['11 after 0']);
  });

  it('can be turned off, and a mistake in their options is named', () => {
    expect(feed(subjectsOf({ limit: { enabled: false } }), 'a', [99])).to.deep.equal([]);
    expect(() => subjectsOf({ limits: {} })).to.throw(
      'limits: there is no detector "limits"; there are: limit',
    );
    expect(() => subjectsOf({ limit: { limit: 'high' } })).to.throw('limit.limit: must be a number');
    expect(() => subjectsOf({ limit: { lmit: 3 } })).to.throw('limit');
  });

  it('have the memory of the 2 000 runs that reported last', () => {
    const subjects = subjectsOf();
    feed(subjects, 'first', [1]);
    for (let run = 0; run < 1_999; run += 1) feed(subjects, `r${run}`, [1]);
    expect(feed(subjects, 'first', [11])).to.deep.equal(['11 after 1']);
    for (let run = 0; run < 2_000; run += 1) feed(subjects, `s${run}`, [1]);
    expect(feed(subjects, 'first', [12])).to.deep.equal(['12 after 0']);
  });

  it('have fewer memories when runs have many metrics', () => {
    const everything: Detector = { ...limit, wantsMetric: () => true };
    const subjects = new Subjects(configure(new Map([['limit', everything]]), {}, refuse), () => undefined);
    const feedMany = (run: string) => {
      const points = Array.from({ length: 120 }, (_, seq) => ({ seq, step: 0, name: `m${seq}`, value: 1 }));
      subjects.feed({ of: 'run', id: run }, { kind: 'metric', at: 0, run_id: run, points });
    };
    for (let run = 0; run < 600; run += 1) feedMany(`r${run}`);
    const known = Array.from({ length: 600 }, (_, run) => subjects.has({ of: 'run', id: `r${run}` }));
    expect(known.filter(Boolean)).to.have.length(500);
    expect(known.slice(100).every(Boolean)).to.equal(true);
  });

  it('forget a run some minutes after its end', () => {
    const subjects = subjectsOf();
    const key = { of: 'run', id: 'a' } as const;
    feed(subjects, 'a', [1]);
    subjects.setOver(key, true);
    subjects.tick(60 * S);
    expect(feed(subjects, 'a', [11])).to.deep.equal(['11 after 1']);
    subjects.tick(200 * S);
    expect(feed(subjects, 'a', [12])).to.deep.equal(['12 after 0']);
  });
});

describe('what waits for the detectors', () => {
  const batch = (points: number) =>
    ({ kind: 'points', run_id: 'r', points: Array(points).fill({}) as never[] }) as const;

  it('is bounded: the oldest points are dropped and counted, and changes of state are kept in order', () => {
    const waiting = new Waiting();
    waiting.add({ kind: 'runDeleted', id: 'one' });
    for (let index = 0; index < 10; index += 1) waiting.add(batch(60_000));
    waiting.add({ kind: 'runDeleted', id: 'two' });
    const kinds: string[] = [];
    let points = 0;
    for (let next = waiting.take(); next; next = waiting.take()) {
      kinds.push(next.kind);
      if (next.kind === 'points') points += next.points.length;
    }
    expect(points + waiting.dropped).to.equal(600_000);
    expect(points).to.be.at.most(500_000);
    expect([kinds[0], kinds.at(-1)]).to.deep.equal(['runDeleted', 'runDeleted']);
  });

  it('is bounded by the characters of lines, too', () => {
    const waiting = new Waiting();
    const lines = Array.from({ length: 100 }, (_, seq) => ({
      seq,
      stream: 'stdout' as const,
      ts: 1,
      text: 'x'.repeat(16_000),
    }));
    for (let index = 0; index < 100; index += 1)
      waiting.add({ kind: 'lines', job_id: 'j', attempt: 1, lines });
    let kept = 0;
    for (let next = waiting.take(); next; next = waiting.take()) kept += 100;
    expect(kept + waiting.dropped).to.equal(10_000);
    expect(kept * 16_000).to.be.at.most(64 * 1024 * 1024);
  });
});
