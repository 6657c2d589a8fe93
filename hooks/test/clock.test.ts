import { expect } from 'chai';
import { systemClock } from '../src/index.js';
import { failureOf, fakeClock, until } from '../testing/index.js';

describe('clocks', () => {
  it('of tests run what falls due, in order, and let promises move on in between', async () => {
    const clock = fakeClock(1000);
    const seen: string[] = [];
    const note = (what: string) => () => void seen.push(`${what} ${clock.now()}`);
    clock.setTimeout(note('late'), 30);
    clock.setTimeout(() => void Promise.resolve().then(() => clock.setTimeout(note('chained'), 5)), 10);
    const ticks = clock.setInterval(note('tick'), 20);
    clock.setTimeout(note('never'), 15).clear();
    await clock.advance(40);
    expect(seen).to.deep.equal(['chained 1015', 'tick 1020', 'late 1030', 'tick 1040']);
    ticks.clear();
    await clock.advance(100);
    expect(seen).to.have.length(4);
    expect(clock.now()).to.equal(1140);
  });

  it('of the system can be cleared', async () => {
    let ticks = 0;
    const timer = systemClock.setInterval(() => (ticks += 1), 1);
    systemClock.setTimeout(() => (ticks += 1000), 0).clear();
    await until(() => ticks >= 2);
    timer.clear();
    expect(ticks).to.be.lessThan(1000);
    expect(systemClock.now()).to.be.closeTo(Date.now(), 1000);
  });

  it('until() says what did not come true', async () => {
    const failure = await failureOf(() => until(() => 1 > 2, { timeoutMs: 1, everyMs: 1 }));
    expect(failure.message).to.match(/^not within 1 ms: .*1 ?> ?2/);
  });
});
