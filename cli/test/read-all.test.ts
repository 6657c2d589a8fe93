import { expect } from 'chai';
import { readAll } from '../src/tokens/read-all.js';

describe('reading a whole list', () => {
  it('goes on behind the last item while parts are full or cut', async () => {
    const all = Array.from({ length: 2_500 }, (_, at) => ({ id: `t${at}` }));
    const asked: (string | undefined)[] = [];
    const read = ({ limit, before }: { limit: number; before?: string }) => {
      asked.push(before);
      const start = all.findIndex(({ id }) => id === before) + 1;
      // The first part is cut.
      if (start === 0) return Promise.resolve({ items: all.slice(0, 10), truncated: true as const });
      return Promise.resolve({ items: all.slice(start, start + limit) });
    };
    expect(await readAll(read)).to.deep.equal(all);
    expect(asked).to.deep.equal([undefined, 't9', 't1009', 't2009']);
  });
});
