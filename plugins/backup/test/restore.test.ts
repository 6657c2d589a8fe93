import { resolveConfig, type ResolvedConfig } from '@svc/kernel';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Rig } from '../../runs/test/support/rig.js';
import { createBackup, restoreBackup, type Restored } from '../src/index.js';
import { damage } from './support/databases.js';
import { PLUGINS } from './support/plugins.js';

const support = (file: string): string => fileURLToPath(new URL(`support/${file}`, import.meta.url));
const JOB = 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ';
const NOW = 1_700_000_000_000;
const MAX_STEPS = 60;

describe('svc restore', function () {
  this.timeout(180_000);
  let template: string;
  let backupFolder: string;
  let dir: string;
  let config: ResolvedConfig;

  /** A data directory with a backup in which there is project "before", and since then project "since". */
  before(async () => {
    template = mkdtempSync(join(tmpdir(), 'svc-restore-'));
    const rig = await Rig.start({ dataDir: template, plugins: [] });
    await rig.post('/projects', { name: 'before' });
    const filename = join(template, 'svc.db');
    writeLog(template, 'attempt-1.ndjson.gz', 'complete');
    writeLog(template, 'attempt-2.ndjson', 'grow');
    writeSnapshot(template, 'train.py');
    writeSnapshot(template, 'eval.py');
    writeFileSync(join(template, 'snapshots', 'x.partial'), 'half');
    const { path } = await createBackup({ dataDir: template, filename, at: NOW, keep: 7, db: rig.kernel.db });
    backupFolder = dirname(path).slice(template.length + 1);
    await rig.post('/projects', { name: 'since' });
    writeLog(template, 'attempt-2.ndjson', 'grown');
    await rig.close();
  });
  after(() => rmSync(template, { recursive: true }));

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-restore-'));
    cpSync(template, dir, { recursive: true });
    config = resolveConfig({ dataDir: dir, plugins: PLUGINS }, { env: {} });
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const present = (): string => join(dir, 'svc.db');
  const saved = (): string => join(dir, backupFolder);
  const restore = (file = saved()): Promise<Restored> => restoreBackup({ file, config, at: NOW });
  const databases = (): string[] => readdirSync(dir).filter((name) => /^svc\.db(?!-)/.test(name));
  const refusal = async (file?: string): Promise<string> => {
    const untouched = readFileSync(present());
    const error = await restore(file).then(
      () => new Error('it was restored'),
      (thrown: unknown) => thrown as Error,
    );
    expect(readFileSync(present()).equals(untouched), 'the database is as it was').to.equal(true);
    expect(databases()).to.deep.equal(['svc.db']);
    return error.message;
  };

  it('puts the backup in place and keeps the database that was there', async () => {
    const { filename, aside } = await restore();
    expect(filename).to.equal(present());
    expect(projectsIn(present())).to.deep.equal(['before']);
    expect(projectsIn(aside ?? '')).to.deep.equal(['before', 'since']);
    expect(statSync(present()).mode & 0o777).to.equal(0o600);
    expect(readdirSync(dir).filter((name) => name.endsWith('.restore'))).to.deep.equal([]);
  });

  it('refuses one that lacks a table of a plugin', async () => {
    const backup = new Database(join(saved(), 'svc.db'));
    backup.exec('drop table assigned_runs');
    backup.close();
    expect(await refusal()).to.equal(
      'plugin "runs" owns the table "assigned_runs", which is not there after its migrations',
    );
  });

  it('puts back snapshots that are missing, of which the backup took no copy of its own', async () => {
    const snapshots = join(dir, 'snapshots');
    const names = [snapshotName('train.py'), snapshotName('eval.py')].sort();
    expect(readdirSync(join(saved(), 'snapshots')).sort()).to.deep.equal(names);
    expect(statSync(join(template, backupFolder, 'snapshots', snapshotName('train.py'))).nlink).to.equal(2);
    rmSync(join(snapshots, snapshotName('train.py')));
    writeSnapshot(dir, 'newer');
    expect((await restore()).snapshots).to.deep.equal({ files: 1, bytes: 8 });
    expect(readFileSync(join(snapshots, snapshotName('train.py')), 'utf8')).to.equal('train.py');
    expect(readFileSync(join(snapshots, snapshotName('newer')), 'utf8')).to.equal('newer');
    expect((await restore()).snapshots).to.deep.equal({ files: 0, bytes: 0 });
  });

  it('replaces snapshots that are damaged, also those that have their size still, and keeps whole ones', async () => {
    const [damaged, cut, whole] = ['train.py', 'eval.py', 'train.py'];
    const file = (text: string) => join(dir, 'snapshots', snapshotName(text));
    for (const [text, content] of [
      [damaged, 'trxin.py'],
      [cut, 'ev'],
    ] as const) {
      rmSync(file(text));
      writeFileSync(file(text), content);
    }
    expect((await restore()).snapshots).to.deep.equal({ files: 2, bytes: 15 });
    for (const text of [damaged, cut]) expect(readFileSync(file(text), 'utf8')).to.equal(text);
    writeFileSync(join(saved(), 'snapshots', snapshotName(whole)), 'longer and damaged');
    rmSync(file(whole));
    writeFileSync(file(whole), whole);
    await restore();
    expect(readFileSync(file(whole), 'utf8')).to.equal(whole);
  });

  it('takes what it keeps back again', async () => {
    const { aside } = await restore();
    await restoreBackup({ file: aside ?? '', config, at: NOW + 1 });
    expect(projectsIn(present())).to.deep.equal(['before', 'since']);
  });

  it('takes the database file as well as the folder', async () => {
    await restore(join(saved(), 'svc.db'));
    expect(projectsIn(present())).to.deep.equal(['before']);
  });

  it('works where there is no database yet', async () => {
    const fresh = join(dir, 'fresh');
    mkdirSync(fresh);
    const restored = await restoreBackup({
      file: saved(),
      config: resolveConfig({ dataDir: fresh, plugins: PLUGINS }, { env: {} }),
      at: NOW,
    });
    expect(restored.aside).to.equal(null);
    expect(projectsIn(join(fresh, 'svc.db'))).to.deep.equal(['before']);
    expect(restored.logs).to.deep.equal({ files: 2, bytes: 12 });
    expect(readFileSync(join(fresh, 'logs', JOB, 'attempt-1.ndjson.gz'), 'utf8')).to.equal('complete');
  });

  it('puts back logs that are missing or shorter, as files of their own where they grow; others stay', async () => {
    rmSync(join(dir, 'logs', JOB, 'attempt-1.ndjson.gz'));
    expect((await restore()).logs).to.deep.equal({ files: 1, bytes: 8 });
    expect(readFileSync(join(dir, 'logs', JOB, 'attempt-2.ndjson'), 'utf8')).to.equal('grown');
    writeLog(dir, 'attempt-2.ndjson', '');
    expect((await restore()).logs).to.deep.equal({ files: 1, bytes: 4 });
    writeLog(dir, 'attempt-2.ndjson', 'grown on');
    expect(readFileSync(join(saved(), 'logs', JOB, 'attempt-2.ndjson'), 'utf8')).to.equal('grow');
  });

  it('a log that is compressed by now stands for the growing one', async () => {
    rmSync(join(dir, 'logs', JOB, 'attempt-2.ndjson'));
    writeLog(dir, 'attempt-2.ndjson.gz', 'z');
    expect((await restore()).logs.files).to.equal(0);
  });

  /** As a server that was killed leaves it: with a project "in the log" that the write-ahead log alone has. */
  const leaveLog = (): void => {
    const open = new Database(present());
    open.pragma('wal_autocheckpoint = 0');
    open.exec("insert into projects values ('prj_x', 'in the log', '', 1)");
    cpSync(`${present()}-wal`, join(dir, 'kept-wal'));
    open.close();
    cpSync(join(template, 'svc.db'), present());
    cpSync(join(dir, 'kept-wal'), `${present()}-wal`);
  };

  it('keeps what a server that was killed had only in its write-ahead log', async () => {
    leaveLog();
    const { aside } = await restore();
    expect(projectsIn(present())).to.deep.equal(['before']);
    expect(projectsIn(aside ?? '')).to.deep.equal(['before', 'in the log', 'since']);
  });

  it('sets the log aside of a database that was moved away: it is not taken for that of the backup', async () => {
    leaveLog();
    renameSync(present(), `${present()}.bad`);
    expect((await restore()).aside).to.equal(null);
    expect(projectsIn(present())).to.deep.equal(['before']);
    const [log] = readdirSync(dir).filter((name) => /before-restore-.*-wal$/.test(name));
    cpSync(join(dir, log ?? ''), `${present()}.bad-wal`);
    expect(projectsIn(`${present()}.bad`)).to.deep.equal(['before', 'in the log', 'since']);
  });

  it('replaces a database that is damaged, and keeps its bytes', async () => {
    writeFileSync(present(), 'no database at all');
    writeFileSync(`${present()}-wal`, 'nor its log');
    const { aside } = await restore();
    expect(projectsIn(present())).to.deep.equal(['before']);
    expect(readFileSync(aside ?? '', 'utf8')).to.equal('no database at all');
  });

  it('refuses a backup of a newer schema', async () => {
    edit(join(saved(), 'svc.db'), "insert into svc_migrations values ('jobs/9999-future', 1)");
    expect(await refusal()).to.match(/newer server: it has jobs\/9999-future/);
  });

  it('refuses what is damaged, no database, none of ours, the one in place, or not there', async () => {
    damage(join(saved(), 'svc.db'));
    expect(await refusal()).to.contain('is damaged');
    writeFileSync(join(dir, 'text'), 'x'.repeat(5000));
    expect(await refusal(join(dir, 'text'))).to.contain('no SQLite database');
    edit(join(dir, 'other.db'), 'create table t (i)');
    expect(await refusal(join(dir, 'other.db'))).to.contain('no database of svc');
    expect(await refusal(present())).to.contain('in place');
    expect(await refusal(join(dir, 'nothing'))).to.contain('there is no backup');
    expect(await refusal(dir)).to.contain('in place');
  });

  it('does not touch a database that another program has open', async () => {
    const other = new Database(present());
    other.exec('begin; select count(*) from projects');
    other.prepare('select 1 from projects').get();
    try {
      expect(await refusal()).to.contain('another program');
    } finally {
      other.close();
    }
  });

  it('refuses PostgreSQL, and says what to use', async () => {
    const database = { client: 'postgres', url: 'postgres://svc@localhost/svc' } as const;
    const error = await restoreBackup({ file: saved(), config: { ...config, database }, at: NOW }).catch(
      (thrown: unknown) => thrown as Error,
    );
    expect((error as Error).message).to.contain('pg_restore');
  });

  it('killed at any step, leaves the old or the new one whole, and can be done again', function () {
    const seen: string[] = [];
    for (let step = 1; ; step += 1) {
      rmSync(dir, { recursive: true });
      cpSync(template, dir, { recursive: true });
      const isDone = restoreUntil(step) === null;
      const names = projectsIn(present()).join();
      seen.push(names);
      if (isDone) break;
      expect(names, `step ${step}`).to.be.oneOf(['before', 'before,since']);
      expect(step).to.be.lessThan(MAX_STEPS);
      // Again from where it was left, on some of the steps: each takes a second.
      if (step % 5 === 0) expect(restoreUntil(0)).to.equal(null);
      if (step % 5 === 0) expect(projectsIn(present())).to.deep.equal(['before']);
    }
    expect(new Set(seen)).to.have.all.keys('before', 'before,since');
    expect(seen.at(-1)).to.equal('before');
  });

  /** The signal that ended it: null when it came to its end before that step. */
  function restoreUntil(step: number): NodeJS.Signals | null {
    const args = ['--import=tsx', `--import=${support('kill-at-step.mjs')}`, '--conditions=svc-source'];
    const env = { ...process.env, KILL_BELOW: dir, KILL_AT_STEP: String(step) };
    const run = spawnSync(process.execPath, [...args, support('restore.ts'), dir, saved()], { env });
    if (run.signal === null) expect(run.stdout.toString(), run.stderr.toString()).to.equal('restored\n');
    return run.signal;
  }
});

function writeLog(dataDir: string, name: string, text: string): void {
  mkdirSync(join(dataDir, 'logs', JOB), { recursive: true });
  writeFileSync(join(dataDir, 'logs', JOB, name), text);
}

const snapshotName = (text: string): string => `${createHash('sha256').update(text).digest('hex')}.tar.gz`;

function writeSnapshot(dataDir: string, text: string): void {
  mkdirSync(join(dataDir, 'snapshots'), { recursive: true });
  writeFileSync(join(dataDir, 'snapshots', snapshotName(text)), text);
}

function projectsIn(filename: string): unknown[] {
  const db = new Database(filename);
  try {
    expect(db.pragma('integrity_check', { simple: true })).to.equal('ok');
    return db.prepare('select name from projects order by name').pluck().all();
  } finally {
    db.close();
  }
}

function edit(filename: string, sql: string): void {
  const db = new Database(filename);
  db.exec(sql);
  db.close();
}
