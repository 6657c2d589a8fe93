import { expect } from 'chai';
import { createTestKernel, eachDatabase, until, type TestKernel } from '../testing/index.js';
import { failureOf } from './support.js';

eachDatabase((database) => {
  describe('a transaction', () => {
    let kernel: TestKernel;
    before(async () => {
      kernel = await createTestKernel({ plugins: [], database });
      await kernel.db.schema.createTable('t', (table) => table.integer('x'));
    });
    after(() => kernel.close());

    it('does what follows it once it has committed, in the order of the calls', async () => {
      const seen: string[] = [];
      await kernel.ctx.transaction(async (tx) => {
        tx.afterCommit(async () => void seen.push(`first of ${(await kernel.db('t').pluck('x')).length}`));
        await tx('t').insert({ x: 1 });
        tx.afterCommit(() => seen.push('second'));
        expect(seen).to.deep.equal([]);
      });
      await until(() => seen.length === 2);
      expect(seen.toSorted()).to.deep.equal(['first of 1', 'second']);
    });

    it('that is rolled back is followed by nothing', async () => {
      let isCalled = false;
      const failure = await failureOf(() =>
        kernel.ctx.transaction(async (tx) => {
          tx.afterCommit(() => (isCalled = true));
          await tx('t').insert({ x: 2 });
          throw new Error('no');
        }),
      );
      expect(failure.message).to.equal('no');
      await kernel.ctx.transaction(() => Promise.resolve());
      expect(isCalled).to.equal(false);
      expect(await kernel.db('t').where({ x: 2 }).first()).to.equal(undefined);
    });

    it('is a success whatever follows it', async () => {
      const done = await kernel.ctx.transaction((tx) => {
        tx.afterCommit(() => Promise.reject(new Error('too late')));
        tx.afterCommit(() => {
          throw new Error('too late as well');
        });
        return Promise.resolve('done');
      });
      expect(done).to.equal('done');
    });

    it('is waited for at the close, with what follows it', async () => {
      const seen: string[] = [];
      const other = await createTestKernel({ plugins: [], database });
      let go!: () => void;
      await other.ctx.transaction(async (tx) => {
        tx.afterCommit(async () => {
          await new Promise<void>((resolve) => (go = resolve));
          seen.push(String((await other.db.raw('select 1')) !== undefined));
        });
      });
      const closing = other.close();
      go();
      await closing;
      expect(seen).to.deep.equal(['true']);
    });
  });
});
