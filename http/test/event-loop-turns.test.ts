import { expect } from 'chai';
import { yieldIfSliceOver, nextTurn } from '../src/event-loop-turns.js';

/** Keeps the event loop. */
function work(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

describe('turns', () => {
  /** How many iterations of the event loop there have been. */
  let iteration = 0;
  let timer: NodeJS.Immediate;
  beforeEach(() => {
    timer = setImmediate(function count() {
      iteration += 1;
      timer = setImmediate(count);
    });
  });
  afterEach(() => clearImmediate(timer));

  it('begin one in each iteration of the event loop, in the order of the calls', async () => {
    const begun: [string, number][] = [];
    const take = async (name: string) => {
      await nextTurn();
      begun.push([name, iteration]);
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(take));
    expect(begun.map(([name]) => name)).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(new Set(begun.map(([, at]) => at)).size).to.equal(4);
  });

  it('let much work at once do one slice between two iterations', async () => {
    work(20);
    let [atOnce, mostAtOnce, before] = [0, 0, -1];
    const long = async () => {
      for (let piece = 0; piece < 20; piece += 1) {
        await yieldIfSliceOver();
        atOnce = iteration === before ? atOnce + 1 : 1;
        before = iteration;
        mostAtOnce = Math.max(mostAtOnce, atOnce);
        work(4);
      }
    };
    await Promise.all(Array.from({ length: 8 }, long));
    // Three pieces fill a slice, and those that were begun in it end.
    expect(mostAtOnce).to.be.at.most(4);
  });

  it('go on at once while the slice lasts', async () => {
    await nextTurn();
    const before = iteration;
    for (let piece = 0; piece < 100; piece += 1) await yieldIfSliceOver();
    expect(iteration - before).to.be.at.most(1);
  });
});
