import { expect } from 'chai';
import { readLimits } from '../abuse/limits-table.js';
import { ALL_ROWS } from '../abuse/rows/index.js';

describe('the limits in docs/security.md', () => {
  it('are those of the cases in test/abuse, each of them', () => {
    const rows = ALL_ROWS.map(({ input, who, limit, others }) => ({ input, who, limit, others }));
    expect(readLimits().map(({ cost: _measured, ...row }) => row)).to.deep.equal(rows);
  });

  it('are told apart by their input', () => {
    const inputs = ALL_ROWS.map(({ input }) => input);
    expect([...new Set(inputs)]).to.deep.equal(inputs);
  });
});
