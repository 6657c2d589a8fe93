import { expect } from 'chai';
import { cutInMiddle } from '../src/run-names.js';

describe('the name of a run', () => {
  it('is whole where it fits', () => {
    expect(cutInMiddle('lr-0.001', 8)).to.equal('lr-0.001');
  });

  it('keeps its start and its end where it is too long, and no half of a letter', () => {
    expect(cutInMiddle('train-digits-lr-0.001-seed-3', 15)).to.equal('train-dig…eed-3');
    expect(cutInMiddle('🦊🦊🦊🦊🦊🦊', 3)).to.equal('🦊…🦊');
  });
});
