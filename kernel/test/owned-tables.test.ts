import { expect } from 'chai';
import type { TableDeclaration } from '../src/index.js';
import { createTestKernel, eachDatabase } from '../testing/index.js';
import { failureOf, plugin } from './support.js';

/** A plugin that makes these tables and says this of them. */
function keeper(name: string, made: readonly string[], ...owned: TableDeclaration[]) {
  return plugin(name, (ctx) => {
    ctx.migrations(
      made.map((table) => ({
        name: table,
        up: (db) => db.schema.createTable(table, (columns) => columns.string('id').primary()),
      })),
    );
    ctx.owns(...owned);
  });
}

describe('the tables of plugins', () => {
  eachDatabase((database) => {
    const boot = (...plugins: ReturnType<typeof keeper>[]) => createTestKernel({ plugins, database });
    const refusal = async (...plugins: ReturnType<typeof keeper>[]) =>
      (await failureOf(() => boot(...plugins))).message;

    it('are listed with their owners and all that a declaration leaves out', async () => {
      const parent = keeper('shelf', ['shelves'], { table: 'shelves', kind: 'shelf' });
      const child = keeper(
        'book',
        ['books', 'pages'],
        { table: 'books', of: { shelf_id: 'shelf', run_id: 'run' } },
        { table: 'pages', key: ['book_id', 'number'], of: { book_id: 'books' }, batched: true },
      );
      const kernel = await boot(child, parent);
      const { tables } = kernel.ctx.registered;
      expect(tables.map(({ plugin: owner, table, kind }) => [owner, table, kind])).to.deep.equal([
        ['book', 'books', 'books'],
        ['book', 'pages', 'pages'],
        ['shelf', 'shelves', 'shelf'],
      ]);
      expect(tables[0]).to.deep.include({ key: ['id'], batched: false, keeps: {}, datedBy: null });
      await kernel.close();
    });

    it('have one owner, and one kind of record each', async () => {
      const shelves = { table: 'shelves' };
      expect(await refusal(keeper('a', ['shelves'], shelves), keeper('b', [], shelves))).to.equal(
        'table "shelves" of plugin "b" is already added by "a"',
      );
      const racks = { table: 'racks', kind: 'shelves' };
      expect(await refusal(keeper('a', ['shelves'], shelves), keeper('b', ['racks'], racks))).to.equal(
        'kind of record "shelves" of plugin "b" is already added by "a"',
      );
    });

    it('are there after the migrations', async () => {
      expect(await refusal(keeper('a', [], { table: 'shelves' }))).to.equal(
        'plugin "a" owns the table "shelves", which is not there after its migrations',
      );
    });

    it('go with records that somebody has', async () => {
      const books = (record: object) => keeper('book', ['books'], { table: 'books', ...record });
      for (const record of [{ of: { shelf_id: 'shelf' } }, { keeps: { shelf_id: 'shelf' } }])
        expect(await refusal(books(record))).to.equal(
          'plugin "book" says that rows of "books" go with "shelf", which is no kind of record of any plugin',
        );
      expect(
        await refusal(keeper('a', ['shelves'], { table: 'shelves' }), books({ of: { shelf_id: 'shelves' } })),
      ).to.equal(
        'plugin "book" says that rows of "books" go with "shelves", a table of plugin "a": name the kind of its records',
      );
    });

    it('do not go with rows of their own table', async () => {
      expect(await refusal(keeper('book', ['books'], { table: 'books', of: { book_id: 'books' } }))).to.equal(
        'plugin "book" says that rows of "books" go with "books": rows cannot go with others of their own table',
      );
    });

    it('are all owned: a kernel for tests refuses one that nobody names', async () => {
      expect(await refusal(keeper('book', ['books', 'pages'], { table: 'books' }))).to.equal(
        'no plugin owns pages: whose migrations make it names it in ctx.owns',
      );
    });
  });
});
