import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  createLogger,
  dialectOf,
  fromJson,
  lockDataDir,
  migrate,
  openDatabase,
  selectRows,
  toJson,
  withRawSqlite,
  type Db,
} from '../src/index.js';
import { createTestKernel, eachDatabase, type TestDatabase } from '../testing/index.js';
import { failureOf, plugin, temporaryDirectory } from './support.js';

const createThings = {
  name: '0001-init',
  up: (db: Db) =>
    db.schema.createTable('things', (table) => {
      table.string('id').primary();
      table.bigInteger('at');
      table.json('data');
      table.string('parent').references('things.id');
    }),
};

describe('database', () => {
  eachDatabase((database: TestDatabase) => {
    it('gives numbers as numbers and JSON as text', async () => {
      const db = await database.open({ things: [createThings] });
      const data = { a: [1, null], 'ü"\\': '\u2028' };
      await db('things').insert({ id: 'a', at: Number.MAX_SAFE_INTEGER, data: toJson(data) });
      const [row] = await db('things').select();
      expect(row.at).to.equal(Number.MAX_SAFE_INTEGER);
      expect(fromJson(row.data)).to.deep.equal(data);
      const { count, sum } = (await db('things').count({ count: '*' }).sum({ sum: 'at' }))[0]!;
      expect([count, sum]).to.deep.equal([1, Number.MAX_SAFE_INTEGER]);
      expect(dialectOf(db)).to.equal(database.client);
    });

    it('reads the rows of long lists as it reads every other row', async () => {
      const db = await database.open({});
      await db.schema.createTable('values', (table) => {
        table.integer('id').primary();
        table.double('number');
        table.text('text');
      });
      const numbers = [0.1, 1 / 3, 1e300, 5e-324, -2.5, 3e-4, 1e21, Number.MAX_SAFE_INTEGER, 0.1 + 0.2, null];
      const texts = ['', 'a"\\\n\t\u0001\u007f', '\u2028 ü 漢 🙂', '[1,{"a":null}]', '1e5', null];
      const rows = numbers.map((number, id) => ({ id, number, text: texts[id % texts.length] }));
      await db('values').insert(rows);
      const query = () => db('values').orderBy('id').where('id', '>=', 0);
      expect(await selectRows(db, query()))
        .to.deep.equal(rows)
        .and.to.deep.equal(await query());
      expect(await selectRows(db, query().where('id', '>', 99))).to.deep.equal([]);
      for (let words = 0; words < 250; words++)
        await selectRows(
          db,
          query()
            .limit(1)
            .whereRaw(`1 = 1${' '.repeat(words)}`),
        );
      expect(await selectRows(db, query())).to.deep.equal(rows);
    });

    it('throws errors, and has them logged, without the statement and its values', async () => {
      const db = await database.open({ things: [createThings] });
      await db('things').insert({ id: 'hunter2' });
      const wrong = [
        () => db('things').insert({ id: 'hunter2' }),
        () => db.transaction((trx) => trx('things').insert({ id: 'a', parent: 'hunter3' })),
        () => db('things').insert({ id: 'b', data: '{"hunter4', at: 'hunter5' }),
        () => db('nothing').insert({ id: 'hunter6' }),
      ];
      const lines: string[] = [];
      const log = createLogger('error', { write: (line) => void lines.push(line) });
      for (const work of wrong) {
        const error = await work().then(
          () => null,
          (thrown: unknown) => thrown as Error,
        );
        log.error({ err: new Error('a defect', { cause: error }) });
        log.error({ err: error });
        if (error !== null) expect(error.message).to.not.match(/insert into/);
      }
      expect(lines.join(''))
        .to.match(/constraint|duplicate/i)
        .and.not.match(/hunter|insert into "?`?things/);
    });

    it('keeps references', async () => {
      const db = await database.open({ things: [createThings] });
      await failureOf(() => db('things').insert({ id: 'a', parent: 'nobody' }));
      expect(await db('things').select()).to.deep.equal([]);
    });

    it('migrates once, in plugin order, and later what is new', async () => {
      const db = await database.open();
      const seen: string[] = [];
      const step = (name: string) => ({ name, up: () => Promise.resolve(void seen.push(name)) });
      await migrate(db, { b: [step('0001-b')], a: [step('0001-a')] });
      await migrate(db, { b: [step('0001-b'), step('0002-b')], a: [step('0001-a')] });
      expect(seen).to.deep.equal(['0001-b', '0001-a', '0002-b']);
      expect(await db('svc_migrations').pluck('name').orderBy('name')).to.deep.equal([
        'a/0001-a',
        'b/0001-b',
        'b/0002-b',
      ]);
    });

    it('undoes a migration that fails, naming it', async () => {
      const db = await database.open();
      const halfway = {
        name: '0001-init',
        up: async (trx: Db) => {
          await createThings.up(trx);
          throw new Error('disk full');
        },
      };
      const failure = await failureOf(() => migrate(db, { things: [halfway] }));
      expect(failure.message).to.equal('migration things/0001-init failed: disk full');
      expect(await db.schema.hasTable('things')).to.equal(false);
      await migrate(db, { things: [createThings] });
    });

    it('refuses a newer database, but not one that has had more plugins', async () => {
      const db = await database.open({
        things: [createThings],
        gone: [{ name: '0001', up: () => Promise.resolve() }],
      });
      await migrate(db, { things: [createThings] });
      expect((await failureOf(() => migrate(db, { things: [] }))).message).to.equal(
        'the database is of a newer server: it has things/0001-init; install that version',
      );
    });

    // On SQLite the lock of the data directory comes first.
    if (database.client === 'postgres') {
      it('lets servers that boot at the same time take turns', async () => {
        const config = await database.create();
        const dbs = await Promise.all([openDatabase(config), openDatabase(config)]);
        await Promise.all(dbs.map((db) => migrate(db, { things: [createThings] })));
        await Promise.all(dbs.map((db) => db.destroy()));
      });
    }

    it('carries a whole kernel', async () => {
      const things = plugin('things', (ctx) => {
        ctx.migrations([createThings]);
        ctx.owns({ table: 'things' });
        ctx.ready(() => ctx.db('things').insert({ id: 'first' }) as unknown as Promise<void>);
      });
      const kernel = await createTestKernel({ plugins: [things], database });
      expect(await kernel.db('things').pluck('id')).to.deep.equal(['first']);
      await kernel.close();
    });
  });

  it('that cannot be opened is named, without its password', async () => {
    const url = 'postgres://svc:hunter2@127.0.0.1:1/none';
    const { message } = await failureOf(() => openDatabase({ client: 'postgres', url }));
    expect(message)
      .to.contain('cannot open the database postgres://svc:***@127.0.0.1:1/none')
      .and.not.contain('hunter2');
  });

  for (const url of [
    'postgres://svc:p/hunter2@127.0.0.1:1/n',
    'postgres://svc@127.0.0.1:1/n?password=hunter2',
  ]) {
    it(`that cannot be opened keeps the password of ${url} to itself`, async () => {
      const failure = await failureOf(() => openDatabase({ client: 'postgres', url }));
      const lines: string[] = [];
      createLogger('error', { write: (line) => void lines.push(line) }).error({ err: failure });
      expect(failure.message + lines.join(''))
        .to.contain('cannot open the database')
        .and.not.contain('hunter2');
    });
  }

  describe('on SQLite', () => {
    it('is for its owner alone', async () => {
      const dataDir = join(temporaryDirectory(), 'data');
      const kernel = await createTestKernel({
        plugins: [
          plugin('things', (ctx) => {
            ctx.migrations([createThings]);
            ctx.owns({ table: 'things' });
          }),
        ],
        dataDir,
      });
      const modeOf = (file: string) => statSync(join(dataDir, file)).mode & 0o777;
      expect(modeOf('.').toString(8)).to.equal('700');
      for (const file of ['svc.db', 'svc.db-wal', 'svc.db-shm', 'server.lock'])
        expect(modeOf(file).toString(8), file).to.equal('600');
      await kernel.close();
    });

    it('lends the connection below knex, in turn, and inside a transaction', async () => {
      const db = await openDatabase({ client: 'sqlite', filename: join(temporaryDirectory(), 'svc.db') });
      await createThings.up(db);
      const count = (inside: Db) =>
        withRawSqlite(
          inside,
          (connection) => connection.prepare('select count(*) as n from things').get() as { n: number },
        );
      let waiting: Promise<{ n: number }> | undefined;
      await failureOf(() =>
        db.transaction(async (trx) => {
          await trx('things').insert({ id: 'a' });
          expect(await count(trx)).to.deep.equal({ n: 1 });
          waiting = count(db);
          throw new Error('roll back');
        }),
      );
      expect(await waiting).to.deep.equal({ n: 0 });
      await db.destroy();
    });

    it('keeps statements: they follow the schema, and are not those that others set up for themselves', async () => {
      const db = await openDatabase({ client: 'sqlite', filename: join(temporaryDirectory(), 'svc.db') });
      await createThings.up(db);
      await db('things').insert({ id: 'a' });
      const read = () => db('things').select('*');
      const row = { id: 'a', at: null, data: null, parent: null };
      expect(await read()).to.deep.equal([row]);
      const raw = await withRawSqlite(db, (connection) => connection.prepare(read().toSQL().sql).raw().all());
      expect(raw).to.deep.equal([['a', null, null, null]]);
      expect(await read()).to.deep.equal([row]);
      await db.schema.alterTable('things', (table) => void table.integer('size').defaultTo(7));
      expect(await read()).to.deep.equal([{ ...row, size: 7 }]);
      for (let limit = 1; limit < 1200; limit++) await db.raw(`select ${limit}`);
      expect(await read()).to.have.length(1);
      await db.destroy();
    });

    it('locks its directory until the process dies, even by kill -9', async () => {
      const dataDir = temporaryDirectory();
      const script = `import { lockDataDir } from '${resolve('kernel/src/db/data-dir.ts')}'; lockDataDir('${dataDir}'); console.log('held'); setInterval(() => 0, 1000);`;
      const node = ['--import=tsx', '--conditions=svc-source', '--input-type=module', '-e', script];
      const holder = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(holder.stdout, 'data');
      expect((await failureOf(() => lockDataDir(dataDir))).message).to.contain(
        'a server is running on the data directory',
      );
      holder.kill('SIGKILL');
      await once(holder, 'exit');
      lockDataDir(dataDir).release();
      holder.stdout.destroy();
    });

    it('keeps what was acknowledged when the process is killed', () => {
      const filename = join(temporaryDirectory(), 'svc.db');
      const script = `import { openDatabase } from '${resolve('kernel/src/db/connect.ts')}';
        const db = await openDatabase({ client: 'sqlite', filename: '${filename}' });
        await db.schema.createTable('t', (table) => void table.integer('n'));
        await db('t').insert({ n: 1 });
        process.kill(process.pid, 'SIGKILL');`;
      const node = ['--import=tsx', '--conditions=svc-source', '--input-type=module', '-e', script];
      expect(() => execFileSync(process.execPath, node, { stdio: 'ignore' })).to.throw();
      expect(existsSync(filename)).to.equal(true);
      return openDatabase({ client: 'sqlite', filename }).then(async (db) => {
        expect(await db('t').pluck('n')).to.deep.equal([1]);
        await db.destroy();
      });
    });
  });
});
