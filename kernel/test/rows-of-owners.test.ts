import { expect } from 'chai';
import { rowsOfOwners, type Db } from '../src/index.js';
import { eachDatabase } from '../testing/index.js';

const createThings = {
  name: '0001-init',
  up: (db: Db) =>
    db.schema.createTable('things', (table) => {
      table.string('id', 40).primary();
      table.string('owner_id', 40).notNullable();
      table.bigInteger('created_at').notNullable();
      table.integer('wanted').notNullable();
    }),
};

interface Thing {
  readonly id: string;
  readonly owner_id: string;
  readonly created_at: number;
}

/** So many things each: none, some, and more than one read returns. */
const COUNTS = [3, 0, 2500, 1, 0, 1000, 7, 999, 1001];
const OWNERS = Array.from({ length: 120 }, (_, index) => `own_${String(index).padStart(3, '0')}`);

eachDatabase((database) => {
  describe('rows of many owners', () => {
    let db: Db;
    before(async () => {
      db = await database.open({ things: [createThings] });
      const things = OWNERS.flatMap((owner_id, owner) =>
        Array.from({ length: COUNTS[owner] ?? 1 }, (_, index) => ({
          id: `${owner_id}-${String(index).padStart(4, '0')}`,
          owner_id,
          // Many of one age, and ids that do not follow the age.
          created_at: 10_000 - Math.floor(index / 300),
          wanted: index % 5 === 4 ? 0 : 1,
        })),
      );
      await db.batchInsert('things', things, 200);
    });

    const read = async (ids: readonly string[]) => {
      const found: Thing[] = [];
      const pages = rowsOfOwners<Thing>(db, {
        owner: 'owner_id',
        ids,
        query: () => db('things').where({ wanted: 1 }).select('id', 'owner_id', 'created_at'),
      });
      for await (const page of pages) found.push(...page);
      return found;
    };

    it('are complete, each once, by owner and the oldest first', async () => {
      const expected = (await db('things')
        .where({ wanted: 1 })
        .orderBy(['owner_id', 'created_at', 'id'])
        .pluck('id')) as string[];
      const found = await read(OWNERS.toReversed());
      expect(found.map(({ id }) => id)).to.deep.equal(expected);
    });

    it('are those of these owners alone', async () => {
      const found = await read([OWNERS[2]!, OWNERS[4]!, OWNERS[0]!, 'own_nobody']);
      expect(new Set(found.map(({ owner_id }) => owner_id))).to.deep.equal(new Set([OWNERS[0], OWNERS[2]]));
      expect(found).to.have.length(3 + 2000);
      expect(await read([])).to.deep.equal([]);
    });
  });
});
