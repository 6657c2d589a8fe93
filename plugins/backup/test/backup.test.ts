import { fakeClock, eachDatabase, until } from '@svc/kernel/testing';
import { logs } from '@svc/plugin-logs';
import { metrics, metricsRef } from '@svc/plugin-metrics';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import knex from 'knex';
import { spawnSync } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Rig } from '../../runs/test/support/rig.js';
import { copyDatabase } from '../src/copy-database.js';
import { backup, createBackup } from '../src/index.js';
import { damage, makeDatabase } from './support/databases.js';

const OUT_OF_FILES = fileURLToPath(new URL('support/out-of-files.ts', import.meta.url));
const NOW = 1_700_000_000_000;
const JOB = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';

describe('POST /admin/backup', function () {
  this.timeout(120_000);

  eachDatabase((database) => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database, plugins: [metrics(), logs(), backup()] })));
    after(() => rig.close());

    it('needs write scope', async () => {
      for (const token of [rig.tokens.read, rig.tokens.sdk, rig.tokens.agent])
        expect((await rig.post('/admin/backup', undefined, token)).status).to.equal(403);
    });

    if (database.client === 'postgres') {
      it('says what to use for PostgreSQL', async () => {
        const { status, body } = await rig.post('/admin/backup');
        expect(status).to.equal(503);
        expect(body.error).to.include({ code: 'unavailable' });
        expect(body.error.message).to.contain('pg_dump --format=custom').and.contain('logs');
      });
      return;
    }

    it('answers path and size of a database in one file that the owner alone may read', async () => {
      const { status, body } = await rig.post('/admin/backup');
      expect(status).to.equal(200);
      expect(body).to.have.all.keys('path', 'size');
      expect(statSync(body.path).size).to.equal(body.size);
      expect(statSync(body.path).mode & 0o777).to.equal(0o600);
      expect(readdirSync(dirname(body.path))).to.deep.equal(['svc.db']);
      expect(dirname(dirname(body.path))).to.equal(join(rig.kernel.dataDir, 'backups'));
      const copy = new Database(body.path, { readonly: true });
      expect(copy.pragma('integrity_check', { simple: true })).to.equal('ok');
      expect(copy.prepare('select count(*) from tokens').pluck().get()).to.be.greaterThan(0);
      copy.close();
    });

    it('has the time and the schema in its name', async () => {
      const { path } = (await rig.post('/admin/backup')).body;
      const migrations = (await rig.kernel.db('svc_migrations').count({ count: '*' }).first())?.['count'];
      const [, time = '', schema] = /backups\/(.+)-schema-(\d+)\/svc\.db$/.exec(path) ?? [];
      expect(schema).to.equal(String(migrations));
      expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/);
    });

    it('made under ingest has every batch acknowledged before, each whole, and hinders none', async () => {
      const run = (await rig.post('/runs', {}, rig.tokens.sdk)).body;
      const writers = new Writers(rig, run.id);
      writers.start(3);
      await until(() => writers.acknowledged.length > 30);
      const acknowledged = [...writers.acknowledged];
      const { path } = (await rig.post('/admin/backup')).body;
      const copied = [...writers.acknowledged];
      await until(() => writers.acknowledged.length > copied.length + 5);
      await writers.stop();
      const batches = await batchesIn(path, run.id);
      expect([...batches.values()].every((count) => count === BATCH)).to.equal(true);
      expect(acknowledged.filter((first) => !batches.has(first))).to.deep.equal([]);
      expect(batches.size).to.be.lessThan(writers.acknowledged.length);
    });

    it('who asks while one is being made gets one that was begun later, together', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => rig.post('/admin/backup')));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      const paths = answers.map(({ body }) => body.path);
      expect(new Set(paths).size).to.equal(2);
      expect(paths[1]).to.equal(paths[2]);
    });

    it('leaves checkpoints of the write-ahead log as they were', async () => {
      await rig.post('/admin/backup');
      const [row] = await rig.kernel.db.raw('pragma wal_autocheckpoint');
      expect(row).to.deep.equal({ wal_autocheckpoint: 1000 });
    });
  });

  describe('on a data directory', () => {
    let dataDir: string;
    let filename: string;
    beforeEach(() => {
      dataDir = mkdtempSync(join(tmpdir(), 'svc-backup-'));
      filename = join(dataDir, 'svc.db');
      makeDatabase(filename);
    });
    afterEach(() => rmSync(dataDir, { recursive: true }));

    const make = (at: number, keep = 7) => createBackup({ dataDir, filename, at, keep });
    const backups = () => readdirSync(join(dataDir, 'backups')).sort();

    it('the newest stay, as many as is wanted, and nothing else goes', async () => {
      mkdirSync(join(dataDir, 'backups'));
      writeFileSync(join(dataDir, 'backups', 'notes.txt'), 'mine');
      for (const at of [NOW + 2000, NOW, NOW + 1000]) await make(at, 3);
      await make(NOW + 3000, 2);
      expect(backups()).to.deep.equal([
        '2023-11-14T22-13-22.000Z-schema-1',
        '2023-11-14T22-13-23.000Z-schema-1',
        'notes.txt',
      ]);
    });

    it('the one just made stays, also when the clock was set back', async () => {
      for (const at of [NOW + 3000, NOW + 2000]) await make(at, 2);
      for (const at of [NOW, NOW + 1000]) expect(statSync((await make(at, 2)).path).isFile()).to.equal(true);
      expect(backups()).to.deep.equal([
        '2023-11-14T22-13-21.000Z-schema-1',
        '2023-11-14T22-13-23.000Z-schema-1',
      ]);
    });

    it('clears away what a server that died left of one', async () => {
      mkdirSync(join(dataDir, 'backups', '123.partial'), { recursive: true });
      await make(NOW);
      expect(backups()).to.deep.equal(['2023-11-14T22-13-20.000Z-schema-1']);
    });

    it('holds the logs: the complete ones take no space, the growing ones are copies', async () => {
      const folder = join(dataDir, 'logs', JOB);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'attempt-1.ndjson.gz'), 'complete');
      writeFileSync(join(folder, 'attempt-2.ndjson'), 'growing');
      writeFileSync(join(folder, 'attempt-2.ndjson.gz.tmp'), 'half');
      writeFileSync(join(dataDir, 'logs', 'other'), 'not ours');
      const { path, logs: count } = await make(NOW);
      expect(count).to.deep.equal({ files: 2, bytes: 15 });
      const copies = join(dirname(path), 'logs', JOB);
      expect(readdirSync(copies).sort()).to.deep.equal(['attempt-1.ndjson.gz', 'attempt-2.ndjson']);
      const inode = (file: string) => statSync(file).ino;
      expect(inode(join(copies, 'attempt-1.ndjson.gz'))).to.equal(inode(join(folder, 'attempt-1.ndjson.gz')));
      expect(inode(join(copies, 'attempt-2.ndjson'))).not.to.equal(inode(join(folder, 'attempt-2.ndjson')));
      expect(readFileSync(join(copies, 'attempt-2.ndjson'), 'utf8')).to.equal('growing');
    });

    /** The sentence of a backup that is refused and leaves nothing. */
    const refusal = async (made: Promise<unknown>): Promise<string> => {
      const error = await made.then(
        () => new Error('it was made'),
        (thrown: unknown) => thrown as Error,
      );
      expect(error).to.include({ name: 'HttpError', code: 'unavailable' });
      expect(backups()).to.deep.equal([]);
      return error.message;
    };

    it('of a damaged database is refused', async () => {
      damage(filename);
      expect(await refusal(make(NOW))).to.contain(`${filename} is damaged`);
    });

    it('of a database that another program keeps for itself is refused', async () => {
      const other = new Database(filename);
      other.exec('pragma locking_mode = EXCLUSIVE; begin immediate');
      try {
        expect(await refusal(make(NOW))).to.match(/cannot be copied now: database is locked; try again$/);
      } finally {
        other.close();
      }
    });

    it('is refused when no file can be opened any more', () => {
      const args = ['--import=tsx', '--conditions=svc-source', OUT_OF_FILES, dataDir];
      const limited = ['-c', 'ulimit -n 1024 && exec "$@"', 'sh', process.execPath, ...args];
      const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
      expect(stdout, stderr).to.match(/^unavailable: too many files are open for a backup/);
    });

    it('is stopped by its signal', async () => {
      const closing = new AbortController();
      const order = { dataDir, filename, at: NOW, keep: 7, signal: closing.signal };
      const made = createBackup(order);
      // Made in spite of it, when it was quicker.
      const outcome = made.catch((error: unknown) => error as Error);
      await until(() => backups().length > 0, { everyMs: 1 });
      closing.abort();
      if ((await outcome) instanceof Error) expect(await refusal(made)).to.contain('the server is stopping');
      rmSync(join(dataDir, 'backups'), { recursive: true });
      expect(await refusal(createBackup(order))).to.contain('the server is stopping');
    });

    it('lets checkpoints go on, however long others hold the connection when the copy is done', async () => {
      const log = { warn: () => undefined };
      const options = { client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true, log };
      const db = knex({ ...options, acquireConnectionTimeout: 300, pool: { min: 1, max: 1 } });
      let failed = 0;
      (db.client as { pool: EventEmitter }).pool.on('acquireFail', () => (failed += 1));
      const copying = copyDatabase({ from: filename, to: join(dataDir, 'copy.db'), db });
      const holder = await db.transaction();
      expect(await holder.raw('pragma wal_autocheckpoint')).to.deep.equal([{ wal_autocheckpoint: 0 }]);
      await until(() => failed >= 2);
      await holder.rollback();
      expect((await copying).problems).to.deep.equal([]);
      expect(await db.raw('pragma wal_autocheckpoint')).to.deep.equal([{ wal_autocheckpoint: 1000 }]);
      await db.destroy();
    });
  });
});

const BATCH = 100;

/** Clients that write batches one after the other, as fast as they are taken. */
class Writers {
  /** First seq of each batch that was answered by 200. */
  readonly acknowledged: number[] = [];
  private isOver = false;
  private next = 0;
  private working: Promise<void>[] = [];

  constructor(
    private readonly rig: Rig,
    private readonly runId: string,
  ) {}

  start(count: number): void {
    this.working = Array.from({ length: count }, () => this.write());
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.working);
  }

  private async write(): Promise<void> {
    while (!this.isOver) {
      const first = (this.next += BATCH);
      const points = Array.from({ length: BATCH }, (_, index) => ({
        seq: first + index,
        name: `m${index % 3}`,
        step: first + index,
        value: first,
      }));
      const { status } = await this.rig.post(`/runs/${this.runId}/metrics:batch`, { points });
      if (status === 200) this.acknowledged.push(first);
    }
  }
}

/** How many points of each batch a server finds in that database. */
async function batchesIn(filename: string, runId: string): Promise<Map<number, number>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-backup-'));
  const restored = await Rig.start({
    dataDir,
    plugins: [metrics()],
    database: { client: 'sqlite', create: async () => ({ client: 'sqlite', filename }), open: never },
    clock: fakeClock(Date.now()),
  });
  const batches = new Map<number, number>();
  for await (const { points } of restored.kernel.use(metricsRef).points(runId, null))
    for (const { value } of points) batches.set(value, (batches.get(value) ?? 0) + 1);
  await restored.close();
  rmSync(dataDir, { recursive: true });
  return batches;
}

function never(): never {
  throw new Error('not for this');
}
