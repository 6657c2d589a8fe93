import { expect } from 'chai';
import { Pace } from '../../src/core/pace.js';

const BYTES_PER_S = 100_000;
/** Takes 10 ms. */
const PIECE = 1_000;
const PIECES = 48;

describe('agent: a pace that many keep together', () => {
  it('gives each its turn in the order in which they asked', async () => {
    const pace = new Pace(BYTES_PER_S);
    const turns: number[] = [];
    const takeTurns = async (taker: number): Promise<void> => {
      while (turns.length < PIECES) {
        await pace.ready();
        turns.push(taker);
        pace.spend(PIECE);
      }
    };
    const startedAt = performance.now();
    await Promise.all([0, 1, 2, 3].map(takeTurns));
    expect(turns.slice(0, PIECES)).to.deep.equal(Array.from({ length: PIECES }, (_, at) => at % 4));
    expect(performance.now() - startedAt).to.be.at.least(((PIECES - 1) * 1000 * PIECE) / BYTES_PER_S);
  });
});
