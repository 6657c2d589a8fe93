import { FakeAgent, virtualSlots } from '@svc/agent/testing';
import type { SlotSpec } from '@svc/contract';
import { createTestKernel, fakeClock, until, type FakeClock, type TestKernel } from '@svc/kernel/testing';
import { events } from '@svc/plugin-events';
import { expect } from 'chai';
import { nodes } from '../src/index.js';
import { LatestWord } from '../src/latest-word.js';
import { frameProbe, type FrameProbe } from './support/frame-probe.js';

describe('what an agent says of its host', () => {
  let clock: FakeClock;
  let word: LatestWord<number>;
  let made: number[];
  const make = (value: number) => {
    word.hear(value);
    return word.make(async (each) => void made.push(each));
  };

  beforeEach(() => {
    clock = fakeClock();
    word = new LatestWord(clock);
    made = [];
  });

  it('is made when it changes, and not when it is as before', async () => {
    word.begin(0);
    for (const value of [0, 1, 1, 2, 2]) await make(value);
    expect(made).to.deep.equal([1, 2]);
  });

  it('is made 4 times within 2 s; then the newest is, and the older ones are left out', async () => {
    for (const value of [1, 2, 3, 4]) await make(value);
    const late = make(5);
    word.hear(6);
    word.hear(7);
    await clock.advance(1999);
    expect(made).to.deep.equal([1, 2, 3, 4]);
    await clock.advance(1);
    await late;
    await make(7);
    expect(made).to.deep.equal([1, 2, 3, 4, 7]);
  });

  it('is not made when it is back to what it was', async () => {
    for (const value of [1, 2, 3, 4]) await make(value);
    const late = make(5);
    word.hear(4);
    await clock.advance(2000);
    await late;
    expect(made).to.deep.equal([1, 2, 3, 4]);
  });

  it('is not held back by a clock that was set back', async () => {
    for (const value of [1, 2, 3, 4]) await make(value);
    await clock.advance(-3_600_000);
    const late = make(5);
    await clock.advance(2000);
    await late;
    expect(made.at(-1)).to.equal(5);
  });

  it('is made again when that failed', async () => {
    word.hear(1);
    const failed = await word
      .make(() => Promise.reject(new Error('disk full')))
      .catch((error: Error) => error);
    expect(failed).to.be.an('error');
    await make(1);
    expect(made).to.deep.equal([1]);
  });
});

describe('an agent whose slots flap', () => {
  let clock: FakeClock;
  let kernel: TestKernel;
  let probe: FrameProbe;
  let agent: FakeAgent;

  beforeEach(async () => {
    clock = fakeClock();
    probe = frameProbe();
    kernel = await createTestKernel({ plugins: [events(), nodes(), probe.plugin], clock });
    agent = new FakeAgent({ url: kernel.url });
    await agent.connect();
    await until(() => probe.changes.length > 0);
    probe.changes.length = 0;
  });
  afterEach(async () => {
    await agent.close();
    await kernel.close();
  });

  const flapped = (turn: number): SlotSpec[] =>
    virtualSlots(1024).map((slot) => ({
      ...slot,
      health: { state: 'foreign', reason: `${turn} `.padEnd(1000, 'x'), since: turn },
    }));

  it('costs 4 changes in 2 s, and is shown as it was last before what comes after that', async () => {
    const startedAt = clock.now();
    const key = { job_id: 'job_01J00000000000000000000000', attempt: 1 };
    for (let turn = 1; turn <= 40; turn += 1) agent.send({ type: 'slots', slots: flapped(turn) });
    agent.accept(key);
    await until(() => probe.changes.length > 0);
    const isThrough = async () => {
      await clock.advance(500);
      return probe.frames.length > 0;
    };
    await until(isThrough);
    const periods = Math.ceil((clock.now() - startedAt) / 2000);
    expect(probe.changes.length).to.be.within(1, 4 * (periods + 1));
    const [slot] = probe.changes.at(-1)?.after.slots ?? [];
    expect(slot?.health?.reason).to.match(/^40 /);
  });

  it('costs nothing while it repeats itself', async () => {
    const slots = flapped(1);
    for (let turn = 1; turn <= 20; turn += 1) agent.send({ type: 'slots', slots });
    agent.accept({ job_id: 'job_01J00000000000000000000000', attempt: 1 });
    await until(() => probe.frames.length > 0);
    expect(probe.changes).to.have.length(1);
  });
});
