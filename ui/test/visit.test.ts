import { expect } from 'chai';
import { continueVisit } from '../src/data/visit.js';

const MINUTE = 60_000;
const NOW = 1_800_000_000_000;

describe('a visit of the console', () => {
  it('is told of the last day when it is the first one', () => {
    expect(continueVisit(null, NOW)).to.deep.equal({
      since: NOW - 1440 * MINUTE,
      seenAt: NOW,
      isFirst: true,
    });
  });

  it('goes on while somebody looks at least twice in half an hour', () => {
    const first = continueVisit(null, NOW);
    const later = continueVisit(first, NOW + 30 * MINUTE);
    expect(later).to.deep.equal({ ...first, seenAt: NOW + 30 * MINUTE });
  });

  it('begins anew after that, since the time somebody looked last', () => {
    const first = continueVisit(null, NOW);
    const second = continueVisit(first, NOW + 31 * MINUTE);
    expect(second).to.deep.equal({ since: NOW, seenAt: NOW + 31 * MINUTE, isFirst: false });
    expect(continueVisit(second, NOW + 40 * MINUTE).since).to.equal(NOW);
  });
});
