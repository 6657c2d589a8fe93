import type { Db } from '@svc/kernel';
import { eachDatabase } from '@svc/kernel/testing';
import { projectsMigrations } from '@svc/plugin-projects';
import { expect } from 'chai';
import fc from 'fast-check';
import { jobsMigrations } from '../src/migrations.js';
import type { JobRow } from '../src/job-row.js';
import { Queue } from '../src/queue.js';
import { toQueuedRow } from './support/queued-row.js';

eachDatabase((database) => {
  describe('the queue', () => {
    let db: Db;
    before(async () => {
      db = await database.open({ projects: projectsMigrations, jobs: jobsMigrations });
    });
    beforeEach(() => db('jobs').delete());

    const add = async (changes: Partial<JobRow> = {}): Promise<string> => {
      const row = toQueuedRow(changes);
      await db<JobRow>('jobs').insert(row);
      return row.id;
    };
    const set = (id: string, columns: Partial<JobRow>) => db<JobRow>('jobs').where({ id }).update(columns);
    const reasonOf = async (id: string) => (await db<JobRow>('jobs').where({ id }).first())?.pending_reason;
    const inMemory = { whole: false };
    const anew = { whole: true };

    it('is ordered by priority, then age, and has what a pass needs', async () => {
      const [old, young] = [await add(), await add()];
      const urgent = await add({ priority: 5, gpu: 2, node_selector: '{"zone":"x"}', head_since: 7 });
      const low = await add({ priority: -1 });
      await add({ status: 'RUNNING' });
      const rows = await new Queue().read(db, inMemory);
      expect(rows.map(({ id }) => id)).to.deep.equal([urgent, old, young, low]);
      expect(rows[0]).to.deep.include({
        gpu: 2,
        node_selector: { zone: 'x' },
        head_since: 7,
        runner: 'process',
      });
      expect(rows[0]).to.include.keys('project_id', 'experiment_id', 'created_at', 'queued_at', 'not_before');
    });

    it('reads again what was noted alone, until it is read as a whole', async () => {
      const [noted, unnoted] = [await add(), await add()];
      const queue = new Queue();
      await queue.read(db, inMemory);
      for (const id of [noted, unnoted]) await set(id, { priority: 9 });
      queue.note(noted);
      const prioritiesOf = async (how: { whole: boolean }) =>
        (await queue.read(db, how)).map(({ priority }) => priority);
      expect(await prioritiesOf(inMemory)).to.deep.equal([9, 0]);
      expect(await prioritiesOf(anew)).to.deep.equal([9, 9]);
    });

    it('stores the sentences that are other, many at once, and of no job that has left', async () => {
      const ids = [];
      for (let index = 0; index < 1201; index++) ids.push(toQueuedRow({ pending_reason: 'as it was' }));
      await db.batchInsert('jobs', ids, 100);
      const queue = new Queue();
      const rows = await queue.read(db, inMemory);
      const [kept, gone, first, last] = [rows[0]!.id, rows[1]!.id, rows[2]!.id, rows.at(-1)!.id];
      await set(gone, { status: 'CANCELLED', pending_reason: null });
      const reasons = new Map(rows.map(({ id }) => [id, `behind others: ${id}`]));
      reasons.set(kept, 'as it was');
      await queue.setReasons(db, rows, reasons);
      expect(await reasonOf(kept)).to.equal('as it was');
      expect(await reasonOf(gone)).to.equal(null);
      for (const id of [first, last]) expect(await reasonOf(id)).to.equal(`behind others: ${id}`);

      let statements = 0;
      const count = () => void statements++;
      db.on('query', count);
      await queue.setReasons(db, await queue.read(db, inMemory), reasons);
      db.removeListener('query', count);
      expect(statements).to.equal(0);
    });

    it('notes heads', async () => {
      const [id] = [await add(), await add()];
      const queue = new Queue();
      await queue.setHeads(db, await queue.read(db, inMemory), [id], 123);
      for (const how of [inMemory, anew])
        expect((await queue.read(db, how)).map(({ head_since }) => head_since)).to.deep.equal([123, null]);
    });

    it('starts anew after a failed reading', async () => {
      await add();
      const queue = new Queue();
      await queue.read(db, inMemory);
      const id = await add();
      queue.note(id);
      await db.schema.renameTable('jobs', 'hidden');
      const error = await queue.read(db, inMemory).catch((reason: unknown) => reason);
      await db.schema.renameTable('hidden', 'jobs');
      expect(error).to.be.instanceOf(Error);
      expect(await queue.read(db, inMemory)).to.have.length(2);
    });

    it('hands out a list that its reader may change', async () => {
      await add();
      const queue = new Queue();
      const rows = (await queue.read(db, inMemory)) as unknown[];
      rows.length = 0;
      expect(await queue.read(db, inMemory)).to.have.length(1);
    });

    it('is in memory as it is in the database, whatever happens', async function () {
      this.timeout(30_000);
      const step = fc.record({
        what: fc.constantFrom('submit', 'submit', 'claim', 'requeue', 'tell', 'head'),
        which: fc.nat(),
        priority: fc.integer({ min: -2, max: 2 }),
        zone: fc.constantFrom('x', 'y'),
      });
      const carryOut = async (
        queue: Queue,
        ids: string[],
        { what, which, priority, zone }: FcValue<typeof step>,
      ) => {
        const id = ids[which % ids.length];
        if (what === 'submit') {
          ids.push(await add({ priority, node_selector: JSON.stringify({ zone }) }));
          queue.note(ids.at(-1)!);
        } else if (id !== undefined && what === 'tell') {
          await queue.setReasons(db, await queue.read(db, inMemory), new Map([[id, `reason ${which}`]]));
        } else if (id !== undefined && what === 'head') {
          await queue.setHeads(db, await queue.read(db, inMemory), [id], which);
        } else if (id !== undefined) {
          await set(id, {
            status: what === 'claim' ? 'DISPATCHING' : 'QUEUED',
            not_before: which,
            head_since: null,
          });
          queue.note(id);
        }
      };
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          await db('jobs').delete();
          const [queue, ids]: [Queue, string[]] = [new Queue(), []];
          for (const each of steps) {
            await carryOut(queue, ids, each);
            const [kept, read] = [await queue.read(db, inMemory), await new Queue().read(db, inMemory)];
            expect(kept).to.deep.equal(read);
          }
        }),
        { numRuns: 15 },
      );
    });
  });
});

type FcValue<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
