import { expect } from 'chai';
import { address, parseError } from '../src/data/api.js';
import { filterOf, isWanted, type EventRecord } from '../src/data/event-list.js';

describe('the filter of events', () => {
  const event = (id: string, created_at: number) =>
    ({ id, created_at, severity: 'info', job_id: 'job_1' }) as EventRecord;

  it('is filtered by what the address says, and ignores a severity that is none', () => {
    const filter = filterOf(new URLSearchParams('severity=loud&job_id=job_1'));
    expect(filter).to.deep.equal({ severity: null, job_id: 'job_1', run_id: null, node_id: null });
    expect(isWanted(event('a', 1), filter)).to.equal(true);
    expect(isWanted(event('a', 1), { ...filter, severity: 'critical' })).to.equal(false);
  });
});

describe('the api', () => {
  it('builds addresses without what is empty', () => {
    expect(address('/jobs', { status: 'FAILED', before: null, limit: 5, names: '' })).to.equal(
      '/api/v1/jobs?status=FAILED&limit=5',
    );
    expect(address('/runs/x/metrics', { names: 'a/b,c d' })).to.equal(
      '/api/v1/runs/x/metrics?names=a%2Fb%2Cc+d',
    );
  });

  it('reads the error envelope', async () => {
    const body = JSON.stringify({ error: { code: 'conflict', message: 'no', details: { a: 1 } } });
    const error = await parseError(new Response(body, { status: 409 }));
    expect(error).to.include({ code: 'conflict', message: 'no', status: 409 });
    expect(error.details).to.deep.equal({ a: 1 });
  });

  it('survives an answer that is no envelope', async () => {
    const error = await parseError(new Response('<html>Bad gateway</html>', { status: 502 }));
    expect(error).to.include({ code: 'internal', message: 'The server answered 502.', status: 502 });
  });
});
