import { expect } from 'chai';
import type { Lab } from './lab.js';
import { describeRows } from './row.js';
import { READ_ROWS } from './rows/reads.js';

describeRows('the largest answers', READ_ROWS);

describe('the rows of what is written', () => {
  for (const row of READ_ROWS.filter(({ input }) => input.startsWith('write:')))
    it(`are written anew when they are tried once more: ${row.input}`, async () => {
      let calls = 0;
      const call = () => {
        calls += 1;
        return Promise.resolve({ id: 'run_1', accepted: 10_000, duplicates: 0 });
      };
      const lab = { server: { client: { call } } } as unknown as Lab;
      const tries = [];
      for (let at = 0; at < 2; at++) {
        await row.send(lab).catch(() => undefined);
        tries.push(calls);
        calls = 0;
      }
      expect(tries[0]).to.be.above(0);
      expect(tries[1]).to.equal(tries[0]);
    });
});
