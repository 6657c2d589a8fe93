import type { Job } from '@svc/contract';
import { expect } from 'chai';
import { address, parseError } from '../src/data/api.js';
import { filterOf, isWanted, withNewest, type EventRecord } from '../src/data/event-list.js';
import { EMPTY_LIST, withFirstPage, withJob, withNextPage } from '../src/data/job-list.js';

const job = (created_at: number, status: Job['status'] = 'RUNNING') =>
  ({ id: `job_${created_at}`, created_at, status }) as Job;
const stamps = ({ items }: { items: readonly Job[] }): number[] => items.map(({ created_at }) => created_at);

describe('the list of jobs', () => {
  const loaded = withNextPage(withFirstPage(EMPTY_LIST, { items: [job(9), job(8)], next_before: 8 }), {
    items: [job(7), job(6)],
    next_before: 6,
  });

  it('grows by pages', () => {
    expect(stamps(loaded)).to.deep.equal([9, 8, 7, 6]);
    expect(loaded.nextBefore).to.equal(6);
  });

  it('takes a new first page and keeps older jobs', () => {
    const list = withFirstPage(loaded, { items: [job(10), job(9)], next_before: 9 });
    expect(stamps(list)).to.deep.equal([10, 9, 8, 7, 6]);
    expect(list.nextBefore).to.equal(6);
  });

  it('is the first page alone when that is all there is', () => {
    const list = withFirstPage(loaded, { items: [job(9)], next_before: null });
    expect([stamps(list), list.nextBefore]).to.deep.equal([[9], null]);
  });

  it('changes one job, which leaves a list of another status', () => {
    expect(stamps(withJob(loaded, job(7, 'FAILED'), null))).to.deep.equal([9, 8, 7, 6]);
    expect(stamps(withJob(loaded, job(7, 'FAILED'), 'RUNNING'))).to.deep.equal([9, 8, 6]);
  });
});

describe('the list of events', () => {
  const event = (id: string, created_at: number) =>
    ({ id, created_at, severity: 'info', job_id: 'job_1' }) as EventRecord;

  it('holds each event once, newest first', () => {
    const list = withNewest([event('b', 2), event('a', 1)], [event('c', 3), event('b', 2)]);
    expect(list.map(({ id }) => id)).to.deep.equal(['c', 'b', 'a']);
  });

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
