import { expect } from 'chai';
import { withoutEmpty } from '../src/data/api.js';
import { filterOf, isWanted, type EventRecord } from '../src/data/event-list.js';

describe('the filter of events', () => {
  const event = (id: string, created_at: number) =>
    ({ id, created_at, severity: 'info', job_id: 'job_1' }) as EventRecord;

  it('is filtered by what the address says, and ignores a severity that is none', () => {
    const filter = filterOf(new URLSearchParams('severity=loud&job_id=job_1'));
    expect(filter).to.deep.equal({
      severity: null,
      type: null,
      job_id: 'job_1',
      run_id: null,
      node_id: null,
    });
    expect(isWanted(event('a', 1), filter)).to.equal(true);
    expect(isWanted(event('a', 1), { ...filter, severity: 'critical' })).to.equal(false);
  });
});

describe('a filter', () => {
  it('is none where the address has it empty', () => {
    expect(withoutEmpty({ status: 'FAILED', before: null, q: '' })).to.deep.equal({
      status: 'FAILED',
      before: null,
    });
  });
});
