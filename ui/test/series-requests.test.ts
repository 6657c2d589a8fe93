import { expect } from 'chai';
import type { Api } from '../src/data/api.js';
import { readSeries, streamPoints } from '../src/data/runs.js';

interface Asked {
  readonly method: string;
  readonly query?: { names?: string | null };
  readonly body?: { names: string[] };
}

describe('series are asked for', () => {
  let asked: Asked[];
  const api = {
    call: (route: { method: string }, input: object) => {
      const request = { method: route.method, ...input } as Asked;
      asked.push(request);
      const names = request.body?.names ?? request.query?.names?.split(',') ?? [];
      const series = Object.fromEntries(names.map((name) => [name, { total: 0 }]));
      return Promise.resolve({ series: route.method === 'POST' ? { run_1: series } : series });
    },
    stream: (route: { method: string }, input: object) => {
      asked.push({ method: route.method, ...input });
      return () => undefined;
    },
  } as unknown as Api;
  beforeEach(() => (asked = []));

  it('by one GET where their names fit', async () => {
    expect(await readSeries(api, 'run_1', { names: ['a', 'b'], limit: 10 })).to.have.all.keys('a', 'b');
    expect(asked.map(({ method, query }) => [method, query?.names])).to.deep.equal([['GET', 'a,b']]);
  });

  it('by POST where a name has a comma', async () => {
    const names = ['mAP@.5,.95', 'loss'];
    expect(await readSeries(api, 'run_1', { names })).to.have.all.keys(names);
    expect(asked.map(({ method, body }) => [method, body?.names])).to.deep.equal([['POST', names]]);
  });

  it('and are there whatever the name is', async () => {
    const names = ['a,b', '__proto__'];
    expect(Object.keys(await readSeries(api, 'run_1', { names }))).to.deep.equal(names);
  });

  it('in pieces where they are many, each within what one answer may hold', async () => {
    const names = Array.from({ length: 1200 }, (_, at) => `metric-${at}`);
    expect(await readSeries(api, 'run_1', { names, limit: 2000 })).to.have.all.keys(names);
    expect(asked.map(({ body }) => body?.names.length)).to.deep.equal([500, 500, 200]);
  });

  it('as a stream of all points where the names do not fit', () => {
    const ignore = {} as never;
    streamPoints(api, 'run_1', ['a'], ignore);
    streamPoints(api, 'run_1', ['a,b'], ignore);
    streamPoints(
      api,
      'run_1',
      Array.from({ length: 2000 }, (_, at) => `metric-${at}`),
      ignore,
    );
    expect(asked.map(({ query }) => query?.names)).to.deep.equal(['a', null, null]);
  });
});
