import Database from 'better-sqlite3';
import { expect } from 'chai';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { migrate, openDatabase, readRawSqlite, withRawSqlite, type Db } from '../src/index.js';
import { explainOutage } from '../src/db/outage.js';
import { failureOf, temporaryDirectory } from './support.js';

/** As long as any waiting may hold up the process: SQLite's own waiting would for seconds. */
const BUDGET_MS = 250;

describe('a database that another connection has locked', () => {
  let filename: string;
  let db: Db;
  let other: Database.Database;
  beforeEach(async () => {
    filename = join(temporaryDirectory(), 'svc.db');
    db = await openDatabase({ client: 'sqlite', filename });
    await db.schema.createTable('t', (table) => void table.integer('n'));
    other = new Database(filename);
    other.exec('BEGIN EXCLUSIVE');
  });
  afterEach(async () => {
    other.close();
    await db.destroy();
  });

  /** What is asked for while the lock is held for a second, and the longest time for which nothing else could run. */
  async function whileLocked<T>(work: () => Promise<T>): Promise<{ result: T; longestStallMs: number }> {
    let longestStallMs = 0;
    let lastMs = performance.now();
    const tick = setInterval(() => {
      longestStallMs = Math.max(longestStallMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 5);
    const result = work();
    await pause(1000);
    other.exec('ROLLBACK');
    return { result: await result.finally(() => clearInterval(tick)), longestStallMs };
  }

  const writes: Readonly<Record<string, () => Promise<unknown>>> = {
    'a statement': async () => db('t').insert({ n: 1 }),
    'a transaction': () =>
      db.transaction(async (trx) => {
        expect(await trx('t').select()).to.deep.equal([]);
        await trx('t').insert({ n: 1 });
      }),
    'what goes below knex': () => withRawSqlite(db, (sqlite) => sqlite.exec('insert into t values (1)')),
    'a migration': () =>
      migrate(db, { a: [{ name: '0001', up: async (trx) => void (await trx('t').insert({ n: 1 })) }] }),
  };
  for (const [what, write] of Object.entries(writes)) {
    it(`has ${what} wait, and nobody else`, async () => {
      const { result, longestStallMs } = await whileLocked(async () => {
        let isWritten = false;
        const written = write().then(() => (isWritten = true));
        for (let reads = 0; reads < 20; reads++) expect(await db('t').select()).to.deep.equal([]);
        expect(isWritten).to.equal(false);
        await written;
        return db('t').pluck('n');
      });
      expect(result).to.deep.equal([1]);
      expect(longestStallMs).to.be.below(BUDGET_MS);
    });
  }

  it('keeps no reads of one moment waiting, and they see that moment', async () => {
    const readAll = (read: Database.Database) => read.prepare('select n from t').pluck().all();
    const read = await readRawSqlite(db, async (sqlite) => {
      const before = readAll(sqlite);
      other.exec('insert into t values (1); commit');
      await pause(1);
      return [before, readAll(sqlite)];
    });
    expect(read).to.deep.equal([[], []]);
    expect(await readRawSqlite(db, async (sqlite) => readAll(sqlite))).to.deep.equal([1]);
  });

  it('lends the connection to others again after reads that fail', async () => {
    const failed = failureOf(() => readRawSqlite(db, () => Promise.reject(new Error('no such thing'))));
    expect((await failed).message).to.equal('no such thing');
    expect(await db('t').pluck('n')).to.deep.equal([]);
  });

  it('gives each of many writers its turn once the lock is gone', async () => {
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const { result } = await whileLocked(async () => {
      await Promise.all(
        numbers.map((n) =>
          n % 2 === 0
            ? db('t').insert({ n })
            : db.transaction(async (trx) => void (await trx('t').insert({ n }))),
        ),
      );
      return db('t').pluck('n').orderBy('n');
    });
    expect(result).to.deep.equal(numbers);
  });

  it('is unavailable after five seconds, and there again later', async () => {
    const startedMs = performance.now();
    const failures = await Promise.all([
      failureOf(() => db('t').insert({ n: 1 })),
      failureOf(() => db.transaction(async (trx) => void (await trx('t').insert({ n: 2 })))),
    ]);
    expect(performance.now() - startedMs).to.be.within(4_900, 8_000);
    for (const failure of failures) expect(explainOutage(failure)).to.be.a('string');
    other.exec('ROLLBACK');
    await db('t').insert({ n: 3 });
    expect(await db('t').pluck('n')).to.deep.equal([3]);
  });

  it('is named when a server cannot open it', async () => {
    const fresh = join(temporaryDirectory(), 'svc.db');
    const holder = new Database(fresh);
    holder.exec('BEGIN EXCLUSIVE');
    const { message } = await failureOf(() => openDatabase({ client: 'sqlite', filename: fresh }));
    holder.close();
    expect(message).to.equal(
      `cannot open the database ${fresh}: another process has it locked; end that one, or wait until it is done, and start again`,
    );
  });
});

describe('a full disk', () => {
  let db: Db;
  beforeEach(async () => {
    db = await openDatabase({ client: 'sqlite', filename: join(temporaryDirectory(), 'svc.db') });
  });
  afterEach(() => db.destroy());

  it('is said to be one', async () => {
    await db.schema.createTable('t', (table) => void table.text('x'));
    await db.raw('pragma max_page_count = 20');
    const write = () => db.transaction(async (trx) => void (await trx('t').insert({ x: 'x'.repeat(1e6) })));
    expect(explainOutage(await failureOf(write))).to.equal(
      "the server's disk is full; make room on it and try again",
    );
    await db('t').insert({ x: 'fits' });
    expect(await db('t').pluck('x')).to.deep.equal(['fits']);
  });
});
